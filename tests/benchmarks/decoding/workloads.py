"""What is translated in a round: batches of ids in a file, so that every contender gets the same.

Axes: B batch, S source length.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.sizes import VOCAB_SIZE

PADDING, UNKNOWN, START, END, FIRST_PIECE = range(5)  # As in `kformer.Tokenizer`.
BATCH = 32
LENGTH = 24  # Ids of a source where all have one length, the end id included.
STEPS_BEYOND = 8  # A random model never ends: its translations have so many ids more.
SHORTEST, LONGEST = 4, 40  # Of a file of random sentences.
CASES = {  # Sentences of a round, and of a batch.
    "one": (16, 1),
    "batch": (2 * BATCH, BATCH),
    "file": (1000, BATCH),
}


class Workload(NamedTuple):
    """Batches, and how long their translations may be."""

    batches: list[np.ndarray]  # int32 (B, S): pieces, end, padding
    extra_length: int  # A translation may have so many ids more than its source.

    @property
    def sentences(self) -> int:
        return sum(len(batch) for batch in self.batches)

    @property
    def longest(self) -> int:
        """S of the longest sentence."""
        return max(batch.shape[1] for batch in self.batches)

    @property
    def largest(self) -> int:
        """B of the largest batch."""
        return max(map(len, self.batches))


def random_workload(case: str, vocab_size: int = VOCAB_SIZE) -> Workload:
    """Returns random sentences; those of a batch have one length, so that none needs padding.

    Their translations never end before their limit. CTranslate2 has one limit for a batch, so
    batches of several lengths would give it more to write than kformer.
    """
    sentences, batch_size = CASES[case]
    random = np.random.default_rng(0)
    batches = []
    for first, length in zip(
        range(0, sentences, batch_size), _lengths(case, random, batch_size), strict=True
    ):
        shape = (min(batch_size, sentences - first), length)
        batch = random.integers(FIRST_PIECE, vocab_size, shape, dtype=np.int32)
        batch[:, -1] = END
        batches.append(batch)
    return Workload(batches, STEPS_BEYOND)


def _lengths(case, random, batch_size):
    """Returns the length of each batch, the longest first."""
    sentences = CASES[case][0]
    if case != "file":
        return [LENGTH] * (sentences // batch_size)
    drawn = random.lognormal(np.log(16), 0.5, sentences)  # About as the words of real text.
    ordered = np.sort(np.clip(drawn, SHORTEST, LONGEST).astype(int))[::-1]
    return ordered[::batch_size]


def text_workload(case: str, rows: list[list[int]], extra_length: int) -> Workload:
    """Returns batches of sentences of about one length, the longest first.

    Args:
        case: Of CASES; "file" takes all rows, the others some from all over.
        rows: Of each sentence, its pieces and the end id.
        extra_length: As `Workload` has it.
    """
    sentences, batch_size = CASES[case]
    if case != "file":
        rows = rows[:: max(1, len(rows) // sentences)][:sentences]
    rows = sorted(rows, key=len, reverse=True)
    batches = []
    for first in range(0, len(rows), batch_size):
        some = rows[first : first + batch_size]
        batch = np.full((len(some), len(some[0])), PADDING, np.int32)
        for row, ids in zip(batch, some, strict=True):
            row[: len(ids)] = ids
        batches.append(batch)
    return Workload(batches, extra_length)


def blank_lines(batch: np.ndarray) -> np.ndarray:
    """Returns a batch of the same shape that has nothing to translate."""
    blank = np.full_like(batch, PADDING)
    blank[:, 0] = END
    return blank


def words_of(ids) -> list[int]:
    """Returns the ids of a translation, without its end and padding."""
    row = np.asarray(ids)
    stops = np.flatnonzero((row == END) | (row == PADDING))
    return row[: stops[0] if stops.size else None].tolist()


def save(path, workload: Workload):
    """Writes a workload, to be read by `load`."""
    arrays = {f"batch {number}": batch for number, batch in enumerate(workload.batches)}
    with Path(path).open("wb") as file:
        np.savez(file, extra_length=workload.extra_length, **arrays)


def load(path) -> Workload:
    """Reads what `save` wrote."""
    with np.load(path) as arrays:
        batches = [arrays[f"batch {number}"] for number in range(len(arrays.files) - 1)]
        return Workload(batches, int(arrays["extra_length"]))
