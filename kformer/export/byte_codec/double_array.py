"""An automaton over bytes in two arrays: a step takes two look-ups.

A state is a number; byte c in state s reads slot s + c. If its `label` is c, its `follow` is the
next state; otherwise no key continues. States are placed so that no two of them use the same slot
([Aoe, 1989](https://doi.org/10.1109/32.31365)). States in which a key may end have the highest
numbers; reading `END`, a byte that no key has, gives the key's value.
"""

from typing import Any, NamedTuple

import numpy as np

END = 0  # Reads the value of a state in which a key ends. A zero in a text never matches it.
NO_BYTE = 255  # Fills up after the end of a text; never in UTF-8.
DEAD = 0  # The state without successors.
_RESERVED = 256  # Slots that `DEAD` reads.
_FIRST_COUNT = 256  # Bases that are looked at together; then twice as many.


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


def automaton_of_keys(values: Any) -> DoubleArray:
    """Builds the automaton of a dict bytes -> value; keys have no zero in them."""
    numbers = {b"": 0}
    edges: list[dict[int, int]] = [{}]
    for key, value in values.items():
        for end in range(1, len(key) + 1):
            if key[:end] not in numbers:
                numbers[key[:end]] = len(edges)
                edges[numbers[key[: end - 1]]][key[end - 1]] = len(edges)
                edges.append({})
        edges[numbers[key]][END] = value
    return automaton_of_edges(edges, max(map(len, values), default=0))


def automaton_of_edges(edges: Any, depth: int) -> DoubleArray:
    """Builds a double array from an automaton's edges.

    Args:
        edges: for each state a dict byte -> state, and `END` -> value if a key ends. State 0 is the
            first. Several edges may lead to one state.
    """
    bases, ends = _spread([list(state_edges) for state_edges in edges])
    size = int(bases.max()) + _RESERVED
    label = np.full(size, NO_BYTE, np.uint8)
    follow = np.full(size, DEAD, np.int32)
    for base, state_edges in zip(bases.tolist(), edges, strict=True):
        for byte, target in state_edges.items():
            label[base + byte] = byte
            follow[base + byte] = target if byte == END else bases[target]
    return DoubleArray(label, follow, int(bases[0]), ends, depth)


def _spread(labels):
    """Finds a base for each set of labels, so that all bases and all slots differ: the lowest.

    Returns:
        bases: int64 (states,).
        ends: int, the lowest base of a set with `END`.
    """
    size = 3 * sum(map(len, labels)) + 3 * _RESERVED
    free = np.ones(size, bool)  # Slots.
    free[:_RESERVED] = False
    unused = np.ones(size, bool)  # As a base.
    unused[: DEAD + 1] = False
    bases = np.zeros(len(labels), np.int64)
    begin = ends = 0  # No base below `begin` is unused.
    tried = {}  # Set of labels -> the base that it fitted last; lower ones are no longer free.
    order = sorted(
        range(len(labels)), key=lambda state: (END in labels[state], -len(labels[state]))
    )
    for state in order:
        if END in labels[state] and not ends:
            begin = ends = int(bases.max()) + 1
        begin += int(unused[begin:].argmax())
        same = frozenset(labels[state])
        base = _lowest_fit(free, unused, same, max(begin, tried.get(same, 0)))
        tried[same] = base
        bases[state] = base
        unused[base] = False
        free[[base + byte for byte in labels[state]]] = False
    return bases, ends or int(bases.max()) + 1


def _lowest_fit(free, unused, labels, begin):
    """Returns the lowest unused base from `begin` on whose slots for all labels are free."""
    count = _FIRST_COUNT
    while True:
        fits = unused[begin : begin + count].copy()
        for byte in labels:
            slots = free[begin + byte : begin + byte + count]
            fits[: len(slots)] &= slots
            fits[len(slots) :] = False
        base = int(fits.argmax())
        if fits[base]:
            return begin + base
        begin += count
        count *= 2
