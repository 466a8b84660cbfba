"""An automaton over bytes in two arrays: a step takes two look-ups.

A state is a number; byte c in state s reads slot s + c. If its `label` is c, its `follow` is the
next state; otherwise no key continues. States are placed so that no two of them use the same slot
([Aoe, 1989](https://doi.org/10.1109/32.31365)). Those in which a key may end have the highest
numbers; reading `END`, a byte that no key has, gives the key's value.
"""

from typing import NamedTuple

import numpy as np

END = 0  # Reads the value of a state in which a key ends. A zero in a text never matches it.
NO_BYTE = 255  # Fills up after the end of a text; never in UTF-8.
DEAD = 0  # The state without successors.
_RESERVED = 256  # Slots that `DEAD` reads.


class DoubleArray(NamedTuple):
    """See the module. U slots."""

    label: np.ndarray  # uint8 (U,); NO_BYTE where a slot is free
    follow: np.ndarray  # int32 (U,); `DEAD` where a slot is free
    start: int  # the first state
    ends: int  # the lowest state in which a key may end
    depth: int  # bytes of the longest key

    def step(self, state: int, byte: int) -> int:
        """Returns the state that follows, or `DEAD`."""
        slot = state + byte
        return int(self.follow[slot]) if byte != END and self.label[slot] == byte else DEAD

    def value(self, state: int) -> int | None:
        """Returns the value of the key that ends in `state`, or None."""
        return int(self.follow[state]) if state >= self.ends else None


def of_keys(values) -> DoubleArray:
    """Builds the automaton of a dict bytes -> value; keys have no zero in them."""
    numbers = {b"": 0}
    edges = [{}]
    for key, value in values.items():
        for end in range(1, len(key) + 1):
            if key[:end] not in numbers:
                numbers[key[:end]] = len(edges)
                edges[numbers[key[: end - 1]]][key[end - 1]] = len(edges)
                edges.append({})
        edges[numbers[key]][END] = value
    return of_edges(edges, max(map(len, values), default=0))


def of_edges(edges, depth: int) -> DoubleArray:
    """Builds a double array from an automaton's edges.

    Args:
        edges: for each state a dict byte -> state, and `END` -> value if a key ends. State 0 is the
            first. Several edges may lead to one state.
        depth: Bytes of the longest key.
    """
    bases, ends = _spread([list(of_state) for of_state in edges])
    size = int(bases.max()) + _RESERVED
    label = np.full(size, NO_BYTE, np.uint8)
    follow = np.full(size, DEAD, np.int32)
    for base, of_state in zip(bases.tolist(), edges, strict=True):
        for byte, target in of_state.items():
            label[base + byte] = byte
            follow[base + byte] = target if byte == END else bases[target]
    return DoubleArray(label, follow, int(bases[0]), ends, depth)


def _spread(labels):
    """Finds a base for each set of labels, so that all bases and all slots differ.

    Integers are sets of slots, one per bit: the free slots, shifted by a label, are the possible
    bases of that label.

    Returns:
        bases: int64 (states,).
        ends: int, the lowest base of a set with `END`.
    """
    slots = 3 * sum(map(len, labels)) + 3 * _RESERVED
    free = (1 << slots) - (1 << _RESERVED)
    unused = (1 << slots) - (1 << (DEAD + 1))  # As a base.
    bases = np.zeros(len(labels), np.int64)
    ends = 0
    order = sorted(
        range(len(labels)), key=lambda state: (END in labels[state], -len(labels[state]))
    )
    for state in order:
        if END in labels[state] and not ends:
            ends = int(bases.max()) + 1
            unused &= -1 << ends
        fits = unused
        for byte in labels[state]:
            fits &= free >> byte
        base = (fits & -fits).bit_length() - 1  # The lowest.
        bases[state] = base
        unused ^= 1 << base
        for byte in labels[state]:
            free ^= 1 << (base + byte)
    return bases, ends or int(bases.max()) + 1
