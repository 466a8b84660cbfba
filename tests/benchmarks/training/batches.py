"""Batches as NumPy arrays in a file, so that every contender gets the same.

Axes: B batch, S source length, T target length.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.sizes import Size

PADDING, START, FIRST_PIECE = 0, 2, 4  # As in `kformer.Tokenizer`.


class Batch(NamedTuple):
    """What a step learns from."""

    source: np.ndarray  # int32 (B, S)
    target_in: np.ndarray  # int32 (B, T), beginning with the start id
    target_out: np.ndarray  # int32 (B, T)


def random_batches(size: Size) -> list[Batch]:
    """Returns a round of batches of one shape, without padding."""
    random = np.random.default_rng(0)

    def ids():
        shape = (size.batch, size.length)
        return random.integers(FIRST_PIECE, VOCAB_SIZE, shape, dtype=np.int32)

    batches = []
    for _ in range(size.steps):
        target = ids()
        target_in = np.pad(target[:, :-1], ((0, 0), (1, 0)), constant_values=START)
        batches.append(Batch(ids(), target_in, target))
    return batches


def target_tokens(batches: list[Batch]) -> int:
    """Counts the expected ids that are not padding."""
    return sum(int(np.count_nonzero(batch.target_out != PADDING)) for batch in batches)


def save(path, batches: list[Batch]):
    """Writes batches, to be read by `load`."""
    arrays = {
        f"{name} {number}": array
        for number, batch in enumerate(batches)
        for name, array in batch._asdict().items()
    }
    with Path(path).open("wb") as file:
        np.savez(file, **arrays)


def load(path) -> list[Batch]:
    """Reads what `save` wrote."""
    with np.load(path) as arrays:
        number_of_batches = len(arrays.files) // len(Batch._fields)
        return [
            Batch(*(arrays[f"{name} {number}"] for name in Batch._fields))
            for number in range(number_of_batches)
        ]
