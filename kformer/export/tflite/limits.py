"""The static sizes of a `.tflite` file."""

from typing import NamedTuple

from kformer.arguments import check_integer
from kformer.decoding.options import SearchOptions
from kformer.tasks.keras_file import KINDS_IN_WORDS
from kformer.tasks.language_model import LanguageModel

LONGEST = 128  # Default limit of a source, in ids.
BYTES_PER_ID = 6  # Capacity for text; pieces have about 4.5.
# Source lengths with a branch of their own, because padding costs time: with a branch for 16 ids, a
# caption of 13 takes 0.94 of the time with the tiny model, and 0.83 with base.
SHORTER = (16, 32, 64, 128, 256)


class Limits(NamedTuple):
    """The static sizes from which the shapes of all tensors follow."""

    source_length: int  # S, ids
    target_length: int  # T, ids
    source_bytes: int
    target_bytes: int

    @property
    def lengths(self) -> list[int]:
        """Source lengths that have their own branch or batch signature, ascending."""
        return [*(short for short in SHORTER if short < self.source_length), self.source_length]


def limits_of(
    model, max_source_length: int | None = None, options: SearchOptions | None = None
) -> Limits:
    """Returns the sizes of a file.

    Args:
        model, max_source_length: See `export_tflite`.
        options: Of the search, which may limit the lengths of answers; None for the defaults.
    """
    if max_source_length is None:
        max_source_length = min(LONGEST, model.max_source_length)
    check_integer("max_source_length", max_source_length)
    if not 2 <= max_source_length <= model.max_source_length:
        raise ValueError(
            "`max_source_length` must be at least 2, for a piece and the end id, and at most the "
            f"{KINDS_IN_WORDS[type(model).__name__]}'s {model.max_source_length}. "
            f"Received: max_source_length={max_source_length}."
        )
    options = options or SearchOptions()
    most = max(options.limit(length) for length in range(2, max_source_length + 1))
    if isinstance(model, LanguageModel):
        most = model.max_length  # Of a prompt and its continuation together.
    return Limits(max_source_length, most, BYTES_PER_ID * max_source_length, BYTES_PER_ID * most)
