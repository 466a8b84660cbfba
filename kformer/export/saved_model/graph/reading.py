"""Tokenizes any texts in graph, and flags those that were cut or broken.

The limits are those of Python, see `kformer.text.rows`. Axes: B batch.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import tensorflow as tf

from kformer.arguments import UNKNOWN_LANGUAGE
from kformer.text.rows import MAX_CHARACTERS

_MAX_BYTES = 4 * MAX_CHARACTERS  # Broken UTF-8 may have no characters to count.


class Read(NamedTuple):
    """The result of `read`."""

    ids: Any  # int32 `tf.RaggedTensor` (B, None): pieces, the end id last
    cut: Any  # bool (B,): the text was cut
    broken: Any  # bool (B,): the text is not UTF-8; its broken bytes were read as U+FFFD
    of_language: Mapping = MappingProxyType({})  # bool (B,) by name: flag of an unknown language

    @property
    def lengths(self):
        """Lengths of the rows with their end ids, int32 (B,)."""
        return tf.cast(self.ids.row_lengths(), tf.int32)

    def flags(self, name):
        """Returns bool tensors (B,) by name of a flag.

        Args:
            name: "source" or "target".
        """
        return {f"{name} cut": self.cut, f"{name} not UTF-8": self.broken, **self.of_language}


def characters_read(text):
    """Returns the number of characters of each text that `read` tokenizes, int32 (B,).

    Text that is not UTF-8 counts as characters of four bytes.
    """
    characters = tf.strings.length(text, unit="UTF8_CHAR")
    most_bytes = -(-tf.strings.length(text) // 4)
    return tf.minimum(tf.maximum(characters, most_bytes), MAX_CHARACTERS)


class Languages:
    """The target languages that a request may name.

    Args:
        ids: dict from the code of a language to the id of its piece.

    Attributes:
        codes: list of them.
        unknown: The flag of a text that names another language; it tells which ones are known.
    """

    def __init__(self, ids):
        self.codes = list(ids)
        self._ids = tf.constant([*ids.values()], tf.int32)
        self.unknown = f"{UNKNOWN_LANGUAGE} (known: {' '.join(self.codes)})"

    def find(self, target_language):
        """Returns the ids of languages, string (B,), as int32 (B,), and whether they are known."""
        same = tf.equal(target_language[:, tf.newaxis], tf.constant(self.codes))
        places = tf.argmax(same, axis=1, output_type=tf.int32)  # 0 for an unknown one.
        return tf.gather(self._ids, places), tf.reduce_any(same, axis=1)


def read(tokenizer, text, max_length, prefix_ids=None):
    """Tokenizes `text`, string (B,), into at most `max_length` ids each; returns `Read`.

    Args:
        prefix_ids: See `kformer.Tokenizer.tokenize`.
    """
    text = tf.strings.regex_replace(text, r"\x00+\z", "", replace_global=False)
    kept = tf.strings.substr(text, 0, _MAX_BYTES)
    kept = tf.strings.substr(kept, 0, MAX_CHARACTERS, unit="UTF8_CHAR")
    mended = tf.strings.unicode_transcode(kept, "UTF-8", "UTF-8", errors="replace")
    pieces = tokenizer.tokenize(kept, prefix_ids)
    most = max_length - 1  # Without the end id.
    return Read(
        tokenizer.with_end(pieces[:, :most]),
        (pieces.row_lengths() > most) | (tf.strings.length(kept) < tf.strings.length(text)),
        tf.not_equal(mended, kept),
    )


def joined(flags):
    """Returns string (...,): the names of the raised flags, separated by commas.

    Args:
        flags: bool tensors (...,) by name.
    """
    text = tf.constant("")
    for name, raised in flags.items():
        after = tf.where(tf.equal(text, ""), "", ", ")
        text = tf.where(raised, tf.strings.join([text, after, name]), text)
    return text
