"""Random marks in training pairs, in graph: terms with their translations, and placeholders.

A model that has seen the wanted translation of a word behind it, between two symbols, learns to
use it ([Dinu et al., 2019](https://arxiv.org/abs/1906.01105)). The terms are words of the pair
itself that translate each other (`word_pairs`), so the model then takes terms of any glossary. Some
translations are replaced on both sides by another word of the text, which can only be copied.

A placeholder takes the place of a word and of its translation, as a symbol on both sides.
`kformer.inference.source_marks` has the symbols.

Axes: N pairs, W words of one side, V ids, C candidates.
"""

from collections.abc import Collection
from typing import Any

import tensorflow as tf

from kformer.inference.source_marks import (
    PLACEHOLDER_SYMBOLS,
    PLACEHOLDERS,
    TERM_BEGIN,
    TERM_END,
    TERMS,
)
from kformer.text.paragraphs.joining import SPACE
from kformer.training.data.word_pairs import WordPairs, WordSplitter

_PAIRS = {TERMS: 0.3, PLACEHOLDERS: 0.2}  # Shares of the pairs that get marks,
_WORDS = {TERMS: 0.35, PLACEHOLDERS: 0.25}  # and of their words that can get one.
_PHRASES = 0.5  # Share of the terms that the next word joins, if its translation is next, too.
_COPIED = 0.4  # Share of the terms with another word as their translation.


class Marking:
    """Puts marks into random pairs of rows.

    Args:
        splitters: `WordSplitter` of the source and of the target.
        pairs: `WordPairs` of their words.
        kinds: Of `kformer.inference.source_marks.KINDS`.
    """

    def __init__(
        self, splitters: tuple[WordSplitter, WordSplitter], pairs: WordPairs, kinds: Collection[str]
    ):
        self._splitters, self._kinds = splitters, kinds
        self._keys = tf.constant(pairs.source_keys), tf.constant(pairs.target_keys)
        self._candidates = tf.constant(pairs.candidates)
        if TERMS in kinds:
            self._ends = [splitters[0].id_of(mark) for mark in (TERM_BEGIN, TERM_END)]
        if PLACEHOLDERS in kinds:
            self._symbols = [
                tf.ragged.constant(_spellings(splitter), tf.int32) for splitter in splitters
            ]

    def __call__(self, source: Any, target: Any, seed: Any):
        """Returns the rows of both sides with marks.

        Args:
            source, target: int32 `tf.RaggedTensor`s (N, None).
            seed: int64 tensor (2,); the same seed makes the same marks.

        Returns:
            int32 `tf.RaggedTensor`s (N, None).
        """
        sides = [
            splitter(rows) for splitter, rows in zip(self._splitters, (source, target), strict=True)
        ]
        seeds = iter(tf.unstack(tf.random.split(seed, 7)))
        links = self._links(*sides)
        chances = tf.random.stateless_uniform(tf.shape(links), next(seeds))
        chosen, least = {}, 0.0
        for kind in self._kinds:
            rows = tf.random.stateless_uniform([source.nrows()], next(seeds)) < _PAIRS[kind]
            most = least + _WORDS[kind]
            drawn = (links >= 0) & (chances >= least) & (chances < most)
            chosen[kind], least = drawn & tf.gather(rows, sides[0].rows), most
        chosen = _without_rivals(chosen, links, tf.size(sides[1].rows))
        source_words, target_words = (side.ids for side in sides)
        none = tf.zeros_like(source_words[:0])
        added = tf.concat([none, tf.fill([tf.size(links), 0], 0)], axis=0)
        if TERMS in chosen:
            draws = [next(seeds) for _ in range(2)]
            added, target_words = self._terms(sides, links, chosen, draws)
        if PLACEHOLDERS in chosen:
            number = self._numbers(sides[0], chosen[PLACEHOLDERS], next(seeds))
            source_words = _exchanged(source_words, self._symbols[0], sides[0].is_spaced, number)
            linked = tf.fill([tf.size(sides[1].rows)], -1)
            place = tf.where(number >= 0)[:, 0]
            linked = tf.tensor_scatter_nd_update(
                linked, tf.gather(links, place)[:, None], tf.gather(number, place)
            )
            target_words = _exchanged(target_words, self._symbols[1], sides[1].is_spaced, linked)
        source_words = tf.concat([source_words, added], axis=1)
        return sides[0].joined(source_words), sides[1].joined(target_words)

    def _links(self, source, target):
        """Returns the target word of each source word, int32 (W,); -1 if there is none, or two."""
        entry = _places_of(self._keys[0], source.keys)
        wanted = tf.where((entry >= 0)[:, None], tf.gather(self._candidates, tf.nn.relu(entry)), -1)
        number = tf.size(self._keys[1], tf.int64)
        words = tf.cast(_places_of(self._keys[1], target.keys), tf.int64)
        codes = tf.where(words >= 0, words + number * target.rows, -1)
        order = tf.argsort(codes, stable=True)
        ranked = tf.gather(codes, order)
        wanted_codes = tf.where(
            wanted >= 0, tf.cast(wanted, tf.int64) + number * source.rows[:, None], -2
        )
        flat = tf.reshape(wanted_codes, [-1])
        first, end = (tf.searchsorted(ranked, flat, side) for side in ("left", "right"))
        places = tf.where(end - first == 1, tf.gather(tf.pad(order, [[0, 1]]), first), -1)
        places = tf.reshape(places, tf.shape(wanted))  # (W, C)
        best = tf.argmax(places >= 0, axis=1, output_type=tf.int32)  # The first one that is there.
        return tf.gather(places, best, batch_dims=1)

    def _terms(self, sides, links, chosen, seeds):
        """Returns the ids behind each source word, ragged (W, None), and the target words."""
        source, target = sides
        terms, taken = chosen[TERMS], tf.zeros([tf.size(target.rows)], tf.bool)
        for words in chosen.values():
            places = tf.boolean_mask(links, words)[:, None]
            taken = tf.tensor_scatter_nd_update(
                taken, places, tf.ones([tf.shape(places)[0]], tf.bool)
            )
        draws = tf.random.stateless_uniform([2, tf.size(links)], seeds[0])
        following = tf.concat([links[1:], [-1]], axis=0)
        same_row = tf.concat([source.rows[1:] == source.rows[:-1], [False]], axis=0)
        free = ~tf.gather(tf.pad(taken, [[0, 1]]), tf.nn.relu(links) + 1)
        long = terms & same_row & (following == links + 1) & free & (draws[0] < _PHRASES)
        copied = terms & ~long & (draws[1] < _COPIED)
        replacing = tf.random.stateless_uniform(
            [tf.size(links)], seeds[1], 0, tf.maximum(1, tf.size(target.rows)), tf.int32
        )
        known = _places_of(self._keys[1], target.keys) >= 0
        copied &= tf.gather(tf.pad(known, [[0, 1]]), replacing)
        linked = tf.nn.relu(links)
        wanted = tf.where(copied, replacing, linked)
        number = tf.size(target.rows)
        empty = tf.zeros([1, 0], tf.int32)
        begin, end = (tf.fill([number, 1], id) for id in self._ends)
        next_words = tf.concat([target.ids[1:], tf.RaggedTensor.from_tensor(empty)[:1]], axis=0)
        next_words = next_words[:number]
        phrases = tf.concat(
            [
                tf.RaggedTensor.from_tensor(empty),
                tf.concat([begin, target.ids, end], axis=1),
                tf.concat([begin, target.ids, next_words, end], axis=1),
            ],
            axis=0,
        )
        # A phrase of two words is put behind the second one.
        behind = tf.pad(long, [[1, 0]])[:-1]
        before = tf.pad(linked, [[1, 0]])[:-1]
        index = tf.where(terms & ~long, 1 + wanted, 0)
        index = tf.where(behind, 1 + number + before, index)
        place = tf.boolean_mask(linked, copied)[:, None]
        changed = tf.tensor_scatter_nd_update(
            tf.range(number), place, tf.boolean_mask(replacing, copied)
        )
        return tf.gather(phrases, index), tf.gather(target.ids, changed)

    def _numbers(self, source, chosen, seed):
        """Returns the number of each word's placeholder, int32 (W,); -1 for other words."""
        count = tf.cumsum(tf.cast(chosen, tf.int32), exclusive=True)
        first = tf.gather(tf.pad(count, [[0, 1]]), source.starts)
        rank = count - tf.gather(first, source.rows)
        most = len(PLACEHOLDER_SYMBOLS)
        shift = tf.random.stateless_uniform([tf.size(source.starts)], seed, 0, most, tf.int32)
        number = (rank + tf.gather(shift, source.rows)) % most
        return tf.where(chosen & (rank < most), number, -1)


def _places_of(keys, words):
    """Returns the place of each of `words` in ascending `keys`, int32; -1 where it is missing."""
    place = tf.minimum(tf.searchsorted(keys, words), tf.size(keys) - 1)
    return tf.where(tf.gather(keys, place) == words, place, -1)


def _without_rivals(chosen, links, number):
    """Returns the choices of words by kind without those whose target word another one has."""
    anywhere = tf.reduce_any(tf.stack([*chosen.values()]), axis=0)
    place = tf.range(tf.size(links))
    targets = tf.where(anywhere, links, number)
    first = tf.math.unsorted_segment_min(place, targets, number + 1)
    is_first = tf.gather(first, targets) == place
    return {kind: words & is_first for kind, words in chosen.items()}


def _spellings(splitter):
    """Returns the ids of each placeholder, and then of each with a space before it."""
    symbols = [[splitter.id_of(symbol)] for symbol in PLACEHOLDER_SYMBOLS]
    return [*symbols, *([splitter.id_of(SPACE), *ids] for ids in symbols)]


def _exchanged(words, symbols, is_spaced, number):
    """Returns words, ragged (W, None), with symbols in place of those with a number."""
    shift = tf.where(is_spaced, len(PLACEHOLDER_SYMBOLS), 0)
    count = words.nrows(out_type=tf.int32)
    index = tf.where(number >= 0, count + number + shift, tf.range(count))
    return tf.gather(tf.concat([words, symbols], axis=0), index)
