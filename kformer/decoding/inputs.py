"""From rows of ids to the arrays that the graph of a `BatchDecoder` reads.

Axes: B batch, S source length, T the longest limit, P prefix length.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf


class Job(NamedTuple):
    """What is decoded as a row of a batch: a source, or one sample of it."""

    index: int  # Of the source.
    source: list  # Its ids, the end id last.
    prefix: list  # The ids that the translation must begin with.
    sample: int  # Number of the sample, from 0.
    last: bool  # Whether it is the last sample of its source.

    @property
    def is_blank(self):
        """Whether it gives nothing: neither a source nor a prefix has an id."""
        return len(self.source) == 1 and not self.prefix


class Inputs(NamedTuple):
    """What the graph reads of a batch."""

    source: np.ndarray  # int32 (B, S)
    limits: np.ndarray  # int32 (B,)
    minimum: np.ndarray  # int32 (B,)
    prefix: np.ndarray  # int32 (B, P)
    keys: np.ndarray  # uint32 (B, T), or (B, 0) where nothing is drawn


SIGNATURE = [
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None, None], tf.int32),
    tf.TensorSpec([None, None], tf.uint32),
]


def jobs_of(rows, prefixes, options, end_id) -> list[Job]:
    """Returns the jobs of all rows, those of a row one after the other.

    A blank row has one sample, and nothing may follow its prefix.

    Args:
        rows: list of lists of ids, each ending in the end id.
        prefixes: as many lists of ids.
        options: `SearchOptions`.
        end_id: Of the target.
    """
    jobs = []
    for index, (row, prefix) in enumerate(zip(rows, prefixes, strict=True)):
        samples = options.n_best if options.sample else 1
        if len(row) == 1:
            samples, prefix = 1, [*prefix, end_id] if prefix else []
        jobs += [Job(index, row, prefix, i, i == samples - 1) for i in range(samples)]
    return jobs


def inputs_of(jobs, options, padding) -> Inputs:
    """Returns the arrays of a batch of jobs.

    Args:
        jobs: list of B `Job`.
        options: `SearchOptions`.
        padding: The id that fills rows up.
    """
    limits = [options.limit(len(job.source), len(job.prefix)) for job in jobs]
    minimum = [
        options.minimum(len(job.source), limit) for job, limit in zip(jobs, limits, strict=True)
    ]
    keys = [[]] * len(jobs)
    if options.sample:
        keys = [
            _random_keys(options.seed, job, limit) for job, limit in zip(jobs, limits, strict=True)
        ]
    return Inputs(
        source=padded([job.source for job in jobs], padding),
        limits=np.array(limits, np.int32),
        minimum=np.array(minimum, np.int32),
        prefix=padded([job.prefix for job in jobs], padding),
        keys=padded(keys, 0, np.uint32),
    )


def padded(rows, padding, dtype=np.int32):
    """Returns an array (B, longest) of rows of numbers, filled up with `padding`."""
    filled = np.full((len(rows), max(map(len, rows), default=0)), padding, dtype)
    for i, row in enumerate(rows):
        filled[i, : len(row)] = row
    return filled


def _random_keys(seed, job, count):
    """Returns `count` random numbers, uint32: of more numbers, they would be the first."""
    sequence = np.random.SeedSequence(seed, spawn_key=(job.sample, *job.source))
    return np.random.default_rng(sequence).integers(2**32, size=count, dtype=np.uint32)
