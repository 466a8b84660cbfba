"""Text in graph: tokenization with flags of cut or broken texts, and flags of degenerate output.

The limits are the same as in Python (`kformer.text.text_rows`), and so are the flags of
degenerate output (`kformer.inference.degenerate`).

Axes: B batch, S source length, T target length, L length of either.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import tensorflow as tf

from kformer.arguments import UNKNOWN_LANGUAGE
from kformer.inference.degenerate import MAX_RATIO, MIN_ECHOES, MIN_TIMES, SLACK
from kformer.text.text_rows import MAX_CHARACTERS

_MAX_BYTES = 4 * MAX_CHARACTERS  # Broken UTF-8 may have no characters to count.


class Read(NamedTuple):
    """The result of `read`."""

    ids: Any  # int32 `tf.RaggedTensor` (B, None): pieces, the end id last
    cut: Any  # bool (B,): the text was cut
    broken: Any  # bool (B,): the text is not UTF-8; its broken bytes were read as U+FFFD
    language_flags: Mapping = MappingProxyType({})  # bool (B,) by name: flag of an unknown language

    @property
    def lengths(self):
        """Lengths of the rows with their end ids, int32 (B,)."""
        return tf.cast(self.ids.row_lengths(), tf.int32)

    def flags(self, name: str):
        """Returns bool tensors (B,) by name of a flag."""
        return {f"{name} cut": self.cut, f"{name} not UTF-8": self.broken, **self.language_flags}


def characters_read(text: tf.Tensor):
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
        unknown: The flag of a text that names another language; it lists the known ones.
    """

    def __init__(self, ids: Mapping[str, int]):
        self.codes = list(ids)
        self._ids = tf.constant([*ids.values()], tf.int32)
        self.unknown = f"{UNKNOWN_LANGUAGE} (known: {' '.join(self.codes)})"

    def find(self, target_language: tf.Tensor):
        """Returns the ids of languages, string (B,), as int32 (B,), and whether they are known."""
        same = tf.equal(target_language[:, tf.newaxis], tf.constant(self.codes))
        places = tf.argmax(same, axis=1, output_type=tf.int32)  # 0 for an unknown one.
        return tf.gather(self._ids, places), tf.reduce_any(same, axis=1)


def read(tokenizer: Any, text: tf.Tensor, max_length: int, prefix_ids: tf.Tensor | None = None):
    """Tokenizes `text`, string (B,), into at most `max_length` ids each; returns `Read`."""
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


def joined(flags: Mapping[str, tf.Tensor]):
    """Returns string (...,): the names of the raised flags, separated by commas.

    Args:
        flags: bool tensors (...,) by name.
    """
    text = tf.constant("")
    for name, raised in flags.items():
        after = tf.where(tf.equal(text, ""), "", ", ")
        text = tf.where(raised, tf.strings.join([text, after, name]), text)
    return text


def degenerate_flags(
    source: tf.Tensor, source_length: tf.Tensor, target: tf.Tensor, target_length: tf.Tensor
):
    """Returns the flags of translations, as `kformer.inference.degenerate.degenerate_flags` does.

    Args:
        source, target: int32 tensors (B, S) and (B, T), ids followed by padding.
        source_length, target_length: int32 tensors (B,), numbers of ids without the end ids.

    Returns:
        dict of bool tensors (B,): "loop" and "length ratio".
    """
    times = repetitions(target, target_length)
    fewer = tf.minimum(source_length, target_length)
    more = tf.maximum(source_length, target_length)
    missing = (source_length > 0) & (target_length == 0)
    return {
        "loop": (times >= MIN_TIMES) & (times > 2 * repetitions(source, source_length)),
        "length ratio": (more > MAX_RATIO * fewer + SLACK) | missing,
    }


def repetitions(ids: tf.Tensor, lengths: tf.Tensor):
    """Returns how often the n-gram that makes up most of a row repeats; 1 if there is none.

    Only rows with enough repeated ids are searched, which are few.

    Args:
        ids: int32 tensor (B, L).
        lengths: int32 tensor (B,).

    Returns:
        int32 tensor (B,).
    """
    needed = tf.maximum(MIN_ECHOES, (lengths + 1) // 2)
    suspicious = tf.where(lengths - _distinct(ids, lengths) >= needed)  # (rows, 1)
    times = tf.cond(
        tf.size(suspicious) > 0,
        lambda: _most(
            *(tf.gather_nd(rows, suspicious) for rows in (ids, lengths, needed)),
        ),
        lambda: tf.zeros((0,), tf.int32),
    )
    return tf.tensor_scatter_nd_update(tf.ones_like(lengths), suspicious, times)


def _distinct(ids, lengths):
    """Returns the number of distinct ids of each row, int32 (B,)."""
    real = tf.sequence_mask(lengths, tf.shape(ids)[1])
    ordered = tf.sort(tf.where(real, ids, -1), axis=1)
    first = tf.not_equal(ordered[:, 1:], ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    started = tf.reduce_any(ordered[:, :1] >= 0, axis=1)
    return tf.reduce_sum(tf.cast(first, tf.int32), axis=1) + tf.cast(started, tf.int32)


def _most(ids, lengths, needed):
    """Returns `repetitions` by trying every n."""
    places = tf.range(tf.shape(ids)[1])
    real = tf.sequence_mask(lengths, tf.shape(ids)[1])
    # A run of at least `needed` echoes covers the middle of its row.
    middle = (lengths // 2)[:, tf.newaxis]

    def longer(n, most):
        echoes = tf.equal(ids, tf.roll(ids, n, axis=1)) & real & (places >= n)
        before = tf.where(echoes | (places > middle), -1, places)
        after = tf.where(echoes | (places < middle), tf.size(places), places)
        longest = tf.reduce_min(after, axis=1) - tf.reduce_max(before, axis=1) - 1
        return n + 1, tf.where(longest >= needed, tf.maximum(most, longest // n + 1), most)

    _, most = tf.while_loop(
        lambda n, most: n <= tf.size(places) // 2, longer, (1, tf.ones_like(lengths))
    )
    return most
