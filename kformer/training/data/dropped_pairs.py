"""Which sentence pairs training leaves out, and the check that some are left; no TensorFlow."""

import dataclasses
import itertools

import numpy as np

from kformer.text import vocabulary
from kformer.training.data.text_files import read_lines

REASONS = ("kept", "blank", "too_long", "unlike_lengths")
SPARED = 8  # Ids by which short sentences may differ, whatever their ratio: "Yes." or "I do, too."
_READ = 1000  # Pairs that are tokenised together.


@dataclasses.dataclass(frozen=True)
class DroppedPairs:
    """How many pairs are used, and how many are not for which reason (the first that applies).

    Attributes:
        kept: Pairs that are used.
        blank: A side has no text.
        too_long: A side has more ids than `max_length`.
        unlike_lengths: One side has more than `max_length_ratio` times the ids of the other.
    """

    kept: int
    blank: int
    too_long: int
    unlike_lengths: int


def check_some_are_left(source, target, models, max_length: int, max_length_ratio=None):
    """Reads pairs up to the first one that training can use.

    Args:
        source, target: Lists of paths of parallel text.
        models: SentencePiece models (bytes) of source and target.
        max_length, max_length_ratio: See `PairFilter`.

    Raises:
        ValueError: There is none; says how many pairs are left out for which reason.
    """
    libraries = [vocabulary.read(model) for model in models]
    lines = [itertools.chain(*map(read_lines, files)) for files in (source, target)]
    pairs = zip(*lines, strict=True)
    counts = np.zeros(len(REASONS), int)
    while read := list(itertools.islice(pairs, _READ)):
        lengths = [
            np.array([len(ids) + 1 for ids in library.encode(list(side))])
            for library, side in zip(libraries, zip(*read, strict=True), strict=True)
        ]
        counts += np.bincount(_reasons(*lengths, max_length, max_length_ratio), minlength=4)
        if counts[0]:
            return
    dropped = DroppedPairs(*counts.tolist())
    raise ValueError(
        f"No pair is left to use: {dropped.blank:,} have a blank side, {dropped.too_long:,} are "
        f"too long, {dropped.unlike_lengths:,} are of unlike lengths. Received: "
        f"max_length={max_length}, max_length_ratio={max_length_ratio}, source files {source}."
    )


def _reasons(source_lengths, target_lengths, max_length, max_length_ratio):
    """The index into `REASONS` of each pair, as `PairFilter` has it in graph; int (N,)."""
    longer = np.maximum(source_lengths, target_lengths) - 1
    shorter = np.minimum(source_lengths, target_lengths) - 1
    reasons = np.zeros_like(longer)
    if max_length_ratio is not None:
        most = np.float32(max_length_ratio) * shorter.astype(np.float32)
        unlike = (longer > most) & (longer - shorter > SPARED)
        reasons = np.where(unlike, REASONS.index("unlike_lengths"), reasons)
    reasons = np.where(longer >= max_length, REASONS.index("too_long"), reasons)
    return np.where(shorter == 0, REASONS.index("blank"), reasons)
