"""Words of a corpus that translate each other, from counts in a sample of it.

A word is a run of ids: it begins at a space, or at a character of a script without spaces, and
punctuation stands alone. It is known by a hash of its ids, so that graphs find it in a table.

Axes: N pairs, W words, S source words, T target words of the table, C candidates.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from kformer.text.paragraphs.joining import SPACE, UNSPACED_WORDS
from kformer.training.data.lexicon import SentenceIds, learn_lexicon
from kformer.training.data.mixture import Mixture

_SAMPLE = 40_000  # Pairs that are counted, and of these the ones of at most
_LONGEST = 60  # words.
_ITERATIONS = 4
_CANDIDATES = 6  # Translations of a word.
_LEAST = 0.02  # Probability of a translation, given the word,
_LEAST_BACK = 0.2  # and of the word, given the translation.
_MOST_FREQUENT = 0.01  # Share of the running words; words such as "the" are no terms,
_TIMES = 10  # unless they are at most so many times as frequent as the mean.
_POSITIONS = 32  # Ids of a word that its hash counts.


class Words(NamedTuple):
    """The words of rows of ids.

    Attributes:
        ids: int32 `tf.RaggedTensor` (W, None).
        rows: int64 (W,), the number of the row of each word.
        starts: int32 (N,), the number of the first word of each row.
        keys: int64 (W,), the hash of each word.
        is_spaced: bool (W,), whether a space begins the word.
        are_words: bool (W,); False for punctuation.
    """

    ids: Any
    rows: Any
    starts: Any
    keys: Any
    is_spaced: Any
    are_words: Any

    def joined(self, words: Any):
        """Returns other ids of each word, ragged (W, None), as rows, ragged (N, None)."""
        number = tf.size(self.starts)
        lengths = tf.math.unsorted_segment_sum(words.row_lengths(), self.rows, number)
        return tf.RaggedTensor.from_row_lengths(words.flat_values, lengths, validate=False)


class WordSplitter:
    """Splits rows of ids into words, in graph.

    Args:
        tokenizer: `kformer.Tokenizer`.
    """

    def __init__(self, tokenizer: Any):
        pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        spelled = [*zip(tokenizer.spelled, pieces, strict=True)]
        self._ids = {piece: i for i, piece in enumerate(pieces)}
        texts = [piece.replace(SPACE, "") for piece in pieces]
        is_byte = [len(text) == 1 and piece.startswith("<0x") for text, piece in spelled]
        is_special = [not text and bool(piece) for text, piece in spelled]  # The end, a language.
        has_letter = [any(map(str.isalnum, text)) for text in texts]
        unspaced = [bool(UNSPACED_WORDS.match(text)) for text in texts]
        alone = [
            is_special[i] or (bool(text) and not is_byte[i] and (unspaced[i] or not has_letter[i]))
            for i, text in enumerate(texts)
        ]
        spaced = [piece.startswith(SPACE) for piece in pieces]
        self._alone, self._spaced = tf.constant(alone), tf.constant(spaced)
        letters = (np.array(has_letter) | np.array(is_byte)) & ~np.array(is_special)
        self._letters = tf.constant(letters.astype(np.int32))
        generator = np.random.default_rng(0)
        self._factors = tf.constant(generator.integers(1, 2**62, _POSITIONS) * 2 + 1)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece of the vocabulary."""
        return self._ids[piece]

    def __call__(self, rows: Any) -> Words:
        """Returns the words of rows, an int32 `tf.RaggedTensor` (N, None)."""
        ids, row_of_id = rows.flat_values, rows.value_rowids()
        alone, spaced = tf.gather(self._alone, ids), tf.gather(self._spaced, ids)
        new_row = row_of_id != tf.pad(row_of_id, [[1, 0]], constant_values=-1)[:-1]
        begins = new_row | spaced | alone | tf.pad(alone, [[1, 0]])[:-1]
        first = tf.where(begins)[:, 0]
        words = tf.RaggedTensor.from_row_starts(ids, first, validate=False)
        word_of_id = tf.cumsum(tf.cast(begins, tf.int64)) - 1
        place = tf.range(tf.size(ids, tf.int64)) - tf.gather(first, word_of_id)
        factors = tf.gather(self._factors, tf.minimum(place, _POSITIONS - 1))
        number = tf.size(first, tf.int64)
        keys = tf.math.unsorted_segment_sum(
            (tf.cast(ids, tf.int64) + 1) * factors, word_of_id, number
        )
        word_rows = tf.gather(row_of_id, first)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(word_rows), word_rows, rows.nrows())
        starts = tf.cast(tf.cumsum(counts, exclusive=True), tf.int32)
        letters = tf.gather(self._letters, ids)
        are_words = tf.math.unsorted_segment_max(letters, word_of_id, number) > 0
        return Words(words, word_rows, starts, keys, tf.gather(spaced, first), are_words)


class WordPairs(NamedTuple):
    """Words with their translations.

    Attributes:
        source_keys, target_keys: int64 (S,) and (T,), hashes of the words, ascending.
        candidates: int32 (S, C), places in `target_keys`, the likeliest first; -1 for none.
    """

    source_keys: np.ndarray
    target_keys: np.ndarray
    candidates: np.ndarray


def learn_word_pairs(splitters: Sequence[WordSplitter], tokenizers: Sequence, mixture: Mixture):
    """Learns the `WordPairs` of a corpus from a sample of its first window."""
    texts = next(iter(mixture.eager_windows()))[:2]
    step = max(1, len(texts[0]) // _SAMPLE)
    with tf.device("CPU:0"):
        sides = [
            splitter(tokenizer.tokenize(text[::step]))
            for splitter, tokenizer, text in zip(splitters, tokenizers, texts, strict=True)
        ]
    numbers = len(texts[0][::step])
    lengths = np.stack([np.bincount(side.rows, minlength=numbers) for side in sides])
    kept = ((lengths > 0) & (lengths <= _LONGEST)).all(0)
    keys, ids = zip(*(_numbered(side, kept) for side in sides), strict=True)
    if not kept.any():
        raise _no_pairs()
    sentences = [
        SentenceIds(side.astype(np.int32), length[kept])
        for side, length in zip(ids, lengths, strict=True)
    ]
    sources, targets, scores = _likely(*sentences)
    usable = [
        _usable(side, word_ids, kept, len(words))
        for side, word_ids, words in zip(sides, ids, keys, strict=True)
    ]
    good = usable[0][sources] & usable[1][targets]
    if not good.any():
        raise _no_pairs()
    return _table(keys[0], keys[1], sources[good], targets[good], scores[good])


def _likely(sources, targets):
    """Returns the likely pairs of words: their numbers, and the products of both probabilities."""
    forward = learn_lexicon(sources, targets, iterations=_ITERATIONS)
    backward = learn_lexicon(targets, sources, iterations=_ITERATIONS)
    step = int(targets.ids.max()) + 1
    codes = forward.sources * step + forward.targets
    back_codes = backward.targets * step + backward.sources
    order = np.argsort(back_codes)
    place = order[np.minimum(np.searchsorted(back_codes, codes, sorter=order), len(order) - 1)]
    returned = np.where(back_codes[place] == codes, backward.probabilities[place], 0.0)
    likely = (forward.probabilities >= _LEAST) & (returned >= _LEAST_BACK)
    scores = forward.probabilities * returned
    return forward.sources[likely], forward.targets[likely], scores[likely]


def _no_pairs():
    return ValueError(
        "Terms and placeholders are learnt from words that translate each other. Received: a "
        "corpus in which no word has the same translation twice."
    )


def _numbered(side, kept):
    """Returns the hashes of the words of some rows, ascending, and the number of each word."""
    words = side.keys.numpy()[kept[side.rows.numpy()]]
    return np.unique(words, return_inverse=True)


def _usable(side, ids, kept, number):
    """Returns which words may be terms: neither rare, nor frequent, nor punctuation, bool."""
    counts = np.bincount(ids, minlength=number)
    are_words = np.zeros(number, bool)
    are_words[ids] = side.are_words.numpy()[kept[side.rows.numpy()]]
    most = max(2, _MOST_FREQUENT * len(ids), _TIMES * len(ids) / number)
    return are_words & (counts >= 2) & (counts <= most)


def _table(source_keys, target_keys, sources, targets, scores):
    order = np.lexsort((targets, -scores, sources))
    sources, targets = sources[order], targets[order]
    rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
    best = rank < _CANDIDATES
    used_sources, rows = np.unique(sources, return_inverse=True)
    used_targets, columns = np.unique(targets, return_inverse=True)
    candidates = np.full((len(used_sources), _CANDIDATES), -1, np.int32)
    candidates[rows[best], rank[best]] = columns[best]
    return WordPairs(source_keys[used_sources], target_keys[used_targets], candidates)
