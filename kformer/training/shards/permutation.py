"""A random order that is computed, not stored: place i of n goes to another place of n.

A Feistel network permutes the numbers of k bits, whatever function it mixes them with; a number
that leaves the range is permuted again until it is back ("cycle walking";
[Black and Rogaway, 2002](https://doi.org/10.1007/3-540-45760-7_9)). Memory does not depend on n.
"""

import numpy as np

from kformer.training.shards.rows import mix

_ROUNDS = 3  # Each mixes both halves of the bits.


def permuted(places: np.ndarray, sizes: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Returns where a random permutation takes each place, int64 (B,).

    Args:
        places: int64 array (B,), each from 0 to its size, exclusive.
        sizes: int64 array (B,), how many places each permutation has.
        keys: uint64 array (B,), which permutation of that size it is.
    """
    result = places.astype(np.uint64)
    sizes = sizes.astype(np.uint64)
    bits = np.ceil(np.log2(sizes)).astype(np.uint64)  # The range of k bits is below 2 n.
    left = np.arange(len(places))  # The places that are still out of range.
    while len(left):
        result[left] = _network(result[left], bits[left], keys[left])
        left = left[result[left] >= sizes[left]]
    return result.astype(np.int64)


def _network(numbers, bits, keys):
    """Permutes the numbers of so many bits each."""
    one = np.uint64(1)
    low_bits = bits >> one
    low_mask = (one << low_bits) - one
    high_mask = (one << (bits - low_bits)) - one
    low, high = numbers & low_mask, numbers >> low_bits
    for _ in range(_ROUNDS):
        keys = mix(keys)
        high = high ^ (mix(keys + low) & high_mask)
        low = low ^ (mix(keys ^ ~high) & low_mask)
    return high << low_bits | low


def key(*numbers: int) -> np.uint64:
    """Returns a key that depends on all `numbers` and on their order."""
    mixed = np.zeros(1, np.uint64)
    for number in numbers:
        mixed = mix(mixed ^ mix(np.array([number], np.uint64)))
    return mixed[0]
