"""The replacements of a SentencePiece model, read from its `precompiled_charsmap`.

The charsmap is a length, an automaton in the layout of
[Darts-clone](https://github.com/s-yata/darts-clone), and the replacements, each followed by a zero.
The automaton shares branches; written out, `nmt_nfkc` would have 225,276 keys.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kformer.export.byte_codec.double_array import END

_LABEL = np.uint32(0x800000FF)  # With the bit that distinguishes values from states.
_VALUE = np.uint32(0x7FFFFFFF)


class Charsmap(NamedTuple):
    """Edges for `double_array.automaton_of_edges`; values are offsets in `replacements`."""

    edges: list
    depth: int
    replacements: bytes


def read(blob: bytes) -> Charsmap:
    """Reads a `precompiled_charsmap`; an empty one replaces nothing."""
    if not blob:
        return Charsmap([{}], 0, b"")
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 8 or size % 4 or not 4 <= size <= len(blob) - 4:
        raise ValueError(
            "The charsmap of a SentencePiece model must be an automaton and its replacements. "
            f"Received: {len(blob)} bytes, of which {size} should be the automaton."
        )
    units = np.frombuffer(blob, "<u4", size // 4, offset=4)
    edges, depth = _edges(units)
    return Charsmap(edges, depth, blob[4 + size :])


def with_symbols(rules: Charsmap, symbols: Iterable[bytes]) -> Charsmap:
    """Returns rules by which symbols stay as they are, whatever else begins where they do."""
    edges, replacements = [dict(state_edges) for state_edges in rules.edges], rules.replacements
    own, ends = {0}, set()  # States of the symbols' beginnings, and of their ends.
    depth = rules.depth
    for symbol in symbols:
        state = 0
        for byte in symbol:
            target = edges[state].get(byte)
            if target not in own:  # A copy, because other keys may lead to the same state.
                edges.append({} if target is None else dict(edges[target]))
                edges[state][byte] = len(edges) - 1
                own.add(len(edges) - 1)
            state = edges[state][byte]
        ends.add(state)
        edges[state][END] = len(replacements)
        replacements += symbol + b"\0"
        depth = max(depth, len(symbol))
    waiting = [*ends]
    while waiting:  # No longer key than a symbol counts, unless it is a symbol.
        state = waiting.pop()
        edges[state] = {
            byte: target
            for byte, target in edges[state].items()
            if (state in ends if byte == END else target in own)
        }
        waiting += [target for byte, target in edges[state].items() if byte != END]
    return Charsmap(edges, depth, replacements)


def _edges(units):
    first = int(_offsets(units[:1])[0])
    numbers = {first: 0}  # By place in `units`.
    edges = [{}]
    level = [first]
    while level:
        places = np.array(level, np.int64)[:, np.newaxis]
        slots = places ^ np.arange(1, 256)  # (states, 255)
        unit = units[np.minimum(slots, len(units) - 1)]
        here = (slots < len(units)) & ((unit & _LABEL) == np.arange(1, 256))
        rows, columns = np.nonzero(here)
        children = slots[rows, columns]
        targets = children ^ _offsets(units[children])
        ends = (units[children] >> 8) & 1
        reached = []
        for row, byte, target, end in zip(
            rows.tolist(), (columns + 1).tolist(), targets.tolist(), ends.tolist(), strict=True
        ):
            if target not in numbers:
                numbers[target] = len(edges)
                edges.append({END: int(units[target] & _VALUE)} if end else {})
                reached.append(target)
            edges[numbers[level[row]]][byte] = numbers[target]
        level = reached
    return edges, _longest(edges)


def _offsets(units):
    """Returns the offsets from units to their children, to be combined by exclusive or."""
    units = units.astype(np.int64)
    return (units >> 10) << ((units & 0x200) >> 6)


def _longest(edges):
    """Returns the bytes of the longest key; the states are in no topological order."""
    longest = [None] * len(edges)
    stack = [0]
    while stack:
        state = stack[-1]
        targets = [target for byte, target in edges[state].items() if byte != END]
        open_ones = [target for target in targets if longest[target] is None]
        if open_ones:
            stack.extend(open_ones)
            continue
        stack.pop()
        longest[state] = max((longest[target] + 1 for target in targets), default=0)
    return longest[0]
