"""Texts to rows of ids, in graph, whatever the texts; and what is to be said of them.

The same limits as in Python, see `kformer.text.rows`. Axes: B batch.
"""

from typing import Any, NamedTuple

import tensorflow as tf

from kformer.text.rows import MAX_CHARACTERS

_MAX_BYTES = 4 * MAX_CHARACTERS  # What is no UTF-8 may have no character that could be counted.


class Read(NamedTuple):
    """What `read` returns."""

    ids: Any  # int32 `tf.RaggedTensor` (B, None): pieces, the end id last
    cut: Any  # bool (B,): only the beginning of the text is there
    broken: Any  # bool (B,): the text is no UTF-8; what is broken in it was read as U+FFFD

    @property
    def lengths(self):
        """int32 (B,), of the rows, their end ids included."""
        return tf.cast(self.ids.row_lengths(), tf.int32)

    def flags(self, name):
        """What is wrong with the texts, by name of a flag: bool tensors (B,).

        Args:
            name: What the texts are called.
        """
        return {f"{name} cut": self.cut, f"{name} not UTF-8": self.broken}


def characters_read(text):
    """How many characters `read` gives to the tokenizer, of each text: int32 (B,).

    What is no UTF-8 counts as if its characters had the most bytes.
    """
    characters = tf.strings.length(text, unit="UTF8_CHAR")
    most_bytes = -(-tf.strings.length(text) // 4)
    return tf.minimum(tf.maximum(characters, most_bytes), MAX_CHARACTERS)


def read(tokenizer, text, max_length):
    """Reads `text`, string (B,): of each at most `max_length` ids. Returns `Read`."""
    text = tf.strings.regex_replace(text, r"\x00+\z", "", replace_global=False)
    kept = tf.strings.substr(text, 0, _MAX_BYTES)
    kept = tf.strings.substr(kept, 0, MAX_CHARACTERS, unit="UTF8_CHAR")
    mended = tf.strings.unicode_transcode(kept, "UTF-8", "UTF-8", errors="replace")
    pieces = tokenizer.tokenize(kept)
    most = max_length - 1  # And the end id.
    return Read(
        tokenizer.with_end(pieces[:, :most]),
        (pieces.row_lengths() > most) | (tf.strings.length(kept) < tf.strings.length(text)),
        tf.not_equal(mended, kept),
    )


def joined(flags):
    """Returns string (...,): the names of the flags that are raised, with commas; "" for none.

    Args:
        flags: bool tensors (...,) by name.
    """
    text = tf.constant("")
    for name, raised in flags.items():
        after = tf.where(tf.equal(text, ""), "", ", ")
        text = tf.where(raised, tf.strings.join([text, after, name]), text)
    return text
