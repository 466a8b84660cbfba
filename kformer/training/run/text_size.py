"""The size of a text in ids, counted before TensorFlow loads, as far as the pace depends on it."""

from collections.abc import Iterable, Sequence

from kformer.text import vocabulary
from kformer.text.text_files import read_lines
from kformer.training.recipes.pace import LARGE_TEXT

_LONGEST = 10_000  # Characters of a text that count: such a text is too long for a pair.


def ids_of_texts(texts: Iterable[str], model: bytes) -> int:
    """Counts the ids of texts, end ids included, up to `LARGE_TEXT`.

    Args:
        model: SentencePiece model (bytes).
    """
    encode = vocabulary.read(model).encode
    return _up_to_large(len(encode(text[:_LONGEST])) + 1 for text in texts)


def ids_of_pairs(
    source: Sequence[str],
    target: Sequence[str],
    models: Sequence[bytes],
    weights: Sequence[float],
) -> int:
    """Counts the ids of the longer sides of pairs, end ids included, up to `LARGE_TEXT`.

    Args:
        models: SentencePiece models (bytes) of source and target.
    """
    encoders = [vocabulary.read(model).encode for model in models]

    def longer_sides():
        for files, weight in zip(zip(source, target, strict=True), weights, strict=True):
            for pair in zip(*map(read_lines, files), strict=True):
                lengths = (
                    len(encode(text[:_LONGEST]))
                    for encode, text in zip(encoders, pair, strict=True)
                )
                yield weight * (max(lengths) + 1)

    return _up_to_large(longer_sides())


def _up_to_large(numbers):
    """Returns the sum of positive numbers, reading no more of them than are needed."""
    total = 0.0
    for number in numbers:
        total += number
        if total >= LARGE_TEXT:
            return LARGE_TEXT
    return round(total)
