"""The rule that drops sentence pairs from training; works without TensorFlow."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kformer.text import vocabulary
from kformer.text.long_lines import LONGEST, is_too_long
from kformer.text.text_files import read_lines

REASONS = ("kept", "blank", "too_long", "unlike_lengths")
_BYTES_OF_ID = 64  # More than the pieces of sentences spell, on average.
_SPARED = 8  # Short sentences may differ by this many ids at any ratio: "Yes.", "I do, too."
_READ = 1000  # Pairs that are tokenized together.


@dataclasses.dataclass(frozen=True)
class DroppedPairs:
    """Numbers of kept pairs, and of dropped pairs by the first reason that applies.

    Attributes:
        kept: Pairs to train on.
        blank: Pairs with a side without text.
        too_long: Pairs with a side of more than `max_length` ids, or of more than 64 bytes for each
            of so many ids.
        unlike_lengths: Pairs with a side of more than `max_length_ratio` times the other's ids.

    Examples:
        >>> import kformer
        >>> from kformer.training import count_dropped_pairs
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> count_dropped_pairs("test.de", "test.en", tokenizer, max_length=12)
        DroppedPairs(kept=274, blank=0, too_long=226, unlike_lengths=0)
    """

    kept: int
    blank: int
    too_long: int
    unlike_lengths: int


class PairFilter:
    """Finds the pairs to drop, by the lengths of their sides.

    A side of more than 64 bytes for each of `max_length` ids is too long, whatever its ids, so that
    it need not be tokenized. Sentences have 3 to 6 bytes for each id.

    Args:
        max_length: Maximum ids per sentence, the end id included.
        max_length_ratio: Maximum ratio of the longer side to the shorter, in ids without the end
            ids. Sides that differ by at most 8 ids always pass. None for any ratio.

    Attributes:
        most_bytes: Maximum bytes of a side, at most `kformer.text.long_lines.LONGEST`.

    Raises:
        ValueError: The ratio is less than 1.
    """

    def __init__(self, max_length: int, max_length_ratio: float | None = None):
        if max_length_ratio is not None and not max_length_ratio >= 1:
            raise ValueError(
                "`max_length_ratio` is that of the longer side to the shorter, so at least 1. "
                f"Received: max_length_ratio={max_length_ratio}."
            )
        self.max_length = max_length
        self.most_bytes = min(_BYTES_OF_ID * max_length, LONGEST)
        self._max_length_ratio = max_length_ratio

    def has_long_side(self, source: Sequence[str], target: Sequence[str]) -> np.ndarray:
        """Returns whether a side of each pair has more than `most_bytes`, bool (N,)."""
        sides = ([is_too_long(text, self.most_bytes) for text in side] for side in (source, target))
        return np.logical_or(*map(np.array, sides))

    def __call__(
        self,
        source_lengths: Any,
        target_lengths: Any,
        has_long_side: Any = False,
        library: Any = np,
    ):
        """Returns the index into `REASONS` of each pair, int (N,).

        Args:
            source_lengths, target_lengths: int arrays or tensors (N,), end ids included.
            has_long_side: Whether a side has more than `most_bytes`, bool (N,).
            library: `numpy` or `tensorflow`, for arrays or tensors.
        """
        longer = library.maximum(source_lengths, target_lengths) - 1
        shorter = library.minimum(source_lengths, target_lengths) - 1
        reasons = library.zeros_like(longer)
        if self._max_length_ratio is not None:
            ratio = longer / library.maximum(shorter, 1)
            unlike = (ratio > self._max_length_ratio) & (longer - shorter > _SPARED)
            reasons = library.where(unlike, REASONS.index("unlike_lengths"), reasons)
        too_long = (longer >= self.max_length) | has_long_side
        reasons = library.where(too_long, REASONS.index("too_long"), reasons)
        return library.where(shorter == 0, REASONS.index("blank"), reasons)


def check_some_are_left(
    source: list[str],
    target: list[str],
    models: tuple[bytes, bytes],
    max_length: int,
    max_length_ratio: float | None = None,
    names: Mapping[str, str] | None = None,
):
    """Reads pairs up to the first one that is kept.

    Args:
        models: SentencePiece models (bytes) of source and target.
    """
    find = PairFilter(max_length, max_length_ratio)
    libraries = [vocabulary.read(model) for model in models]
    lines = [itertools.chain(*map(read_lines, files)) for files in (source, target)]
    pairs = zip(*lines, strict=True)
    counts = np.zeros(len(REASONS), int)
    while read := list(itertools.islice(pairs, _READ)):
        sides = [*zip(*read, strict=True)]
        source_lengths, target_lengths = (
            np.array([len(library.encode(text[: find.most_bytes])) + 1 for text in side])
            for library, side in zip(libraries, sides, strict=True)
        )
        reasons = find(source_lengths, target_lengths, find.has_long_side(*sides))
        counts = counts + np.bincount(reasons, minlength=len(REASONS))
        if counts[0]:
            return
    dropped = DroppedPairs(*counts.tolist())
    shown = [(names or {}).get(file, file) for file in source]
    raise ValueError(
        f"No pair is left to use: {dropped.blank:,} have a blank side, {dropped.too_long:,} are "
        f"too long, {dropped.unlike_lengths:,} are of unlike lengths. Received: "
        f"max_length={max_length}, max_length_ratio={max_length_ratio}, source text {shown}."
    )
