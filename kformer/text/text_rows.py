"""Texts to rows of ids and back, for any text; a text that is too long is cut, with a warning."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from kformer.arguments import replace_lone_surrogates, stacklevel_of_user

MAX_CHARACTERS = 100_000  # Largest number of characters read of a text: this bounds memory.


class TextRows(NamedTuple):
    """Rows of ids of texts, and the indices of texts that were cut."""

    ids: list  # for each text a list of ids, the end id last
    cut: set  # indices of truncated texts


def read_texts(
    tokenizer: Any,
    texts: list[str],
    max_length: int,
    name: str = "Sentence",
    did: str | None = "translated",
):
    """Returns the ids of `texts` as `TextRows`.

    U+0000 at the end of a text is dropped, because a `.tflite` file pads texts with zeros. Of a
    text, at most 100,000 characters are read; then a row is cut to `max_length` ids and keeps its
    end id. Half of a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD.

    Args:
        max_length: Maximum ids of a row, its end id included.
    """
    if not texts:
        return TextRows([], set())

    def warn(i, length, unit, limit, kept):
        cut.add(i)
        if not did:
            return
        warnings.warn(
            f"{name} {i + 1} has {length} {unit}, over the limit of {limit}: "
            f"only its first {kept} were {did}.",
            stacklevel=stacklevel_of_user(),
        )

    cut: set[int] = set()
    texts = [text.rstrip("\0") for text in texts]
    for i, text in enumerate(texts):
        if len(text) > MAX_CHARACTERS:
            warn(i, len(text), "characters", MAX_CHARACTERS, MAX_CHARACTERS)
    texts = [replace_lone_surrogates(text[:MAX_CHARACTERS]) for text in texts]
    rows = tokenizer.with_end(tokenizer.tokenize(texts)).to_list()
    for i, row in enumerate(rows):
        if len(row) > max_length:
            warn(i, len(row), "ids", max_length, max_length - 1)
            rows[i] = [*row[: max_length - 1], tokenizer.end_id]
    return TextRows(rows, cut)


def write_texts(tokenizer: Any, rows: Sequence[Sequence[int]]) -> list[str]:
    """Returns the text of each row of ids, without its end id and without U+0000."""
    flat = tf.constant([i for row in rows for i in row], tf.int32)
    lengths = tf.constant([len(row) for row in rows], tf.int64)
    texts = tokenizer.detokenize(tf.RaggedTensor.from_row_lengths(flat, lengths))
    return [text.decode("utf-8").replace("\0", "") for text in texts.numpy()]


def cut_flags(i: int, **sides: TextRows | None) -> tuple[str, ...]:
    """Returns the flags of the sides of pair `i` that were cut: "source cut" and so on.

    Args:
        **sides: `TextRows` by name, or None.
    """
    return tuple(f"{name} cut" for name, rows in sides.items() if rows and i in rows.cut)
