"""The arrays that the graph of a `BatchDecoder` reads, made of rows of ids.

Axes: B batch, S source length, T largest length, P prefix length.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kformer.inference.search_options import SearchOptions


class Job(NamedTuple):
    """One row of a batch to decode: a source or a prompt, or one sample of it."""

    source_index: int
    source: list  # Ids of the source, the end id last; or of the prompt, the start id first.
    prefix: list  # The ids that the translation must begin with.
    sample: int  # The number of the sample, from 0.
    last: bool  # Whether it is the last sample of its source.
    most: int | None  # For a prompt, the number of ids that are left for its continuation.

    @property
    def is_blank(self):
        """Whether the result is empty: neither the source nor the prefix has an id."""
        return self.most is None and len(self.source) == 1 and not self.prefix


class DecoderInputs(NamedTuple):
    """The arrays of a batch."""

    source: np.ndarray  # int32 (B, S)
    max_lengths: np.ndarray  # int32 (B,)
    minimum: np.ndarray  # int32 (B,)
    prefix: np.ndarray  # int32 (B, P)
    keys: np.ndarray  # uint32 (B, T), or (B, 0) without sampling


SIGNATURE = [
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None, None], tf.uint32),
]


def make_jobs(
    rows: list,
    prefixes: list,
    options: SearchOptions,
    end_id: int,
    max_positions: int | None = None,
) -> list[Job]:
    """Returns the jobs of all rows; the jobs of one row are adjacent.

    A blank row has one sample, which ends after its prefix.

    Args:
        max_positions: If the rows are prompts, the largest number of positions that a prompt and
            its continuation may take; else None. No prompt is blank.
    """
    jobs = []
    for index, (row, prefix) in enumerate(zip(rows, prefixes, strict=True)):
        samples = options.n_best if options.sample else 1
        most = None if max_positions is None else max_positions + 1 - len(row)
        if most is None and len(row) == 1:
            samples, prefix = 1, [*prefix, end_id] if prefix else []
        jobs += [Job(index, row, prefix, i, i == samples - 1, most) for i in range(samples)]
    return jobs


def make_inputs(jobs: list[Job], options: SearchOptions, padding: int) -> DecoderInputs:
    """Returns the arrays of a batch of jobs."""
    max_lengths = [options.limit(len(job.source), len(job.prefix), job.most) for job in jobs]
    with_lengths = list(zip(jobs, max_lengths, strict=True))
    minimum = [options.minimum(len(job.source), max_length) for job, max_length in with_lengths]
    keys = [
        _random_keys(options.seed, job, max_length) if options.sample else []
        for job, max_length in with_lengths
    ]
    return DecoderInputs(
        source=padded([job.source for job in jobs], padding),
        max_lengths=np.array(max_lengths, np.int32),
        minimum=np.array(minimum, np.int32),
        prefix=padded([job.prefix for job in jobs], padding),
        keys=padded(keys, 0, np.uint32),
    )


def padded(rows: list, padding: int, dtype: type = np.int32) -> np.ndarray:
    """Returns rows of numbers as an array (B, longest), padded."""
    filled: np.ndarray = np.full((len(rows), max(map(len, rows), default=0)), padding, dtype)
    for i, row in enumerate(rows):
        filled[i, : len(row)] = row
    return filled


def _random_keys(seed, job, count):
    """Returns `count` random uint32 numbers; a larger count begins with the same ones."""
    sequence = np.random.SeedSequence(seed, spawn_key=(job.sample, *job.source))
    return np.random.default_rng(sequence).integers(2**32, size=count, dtype=np.uint32)
