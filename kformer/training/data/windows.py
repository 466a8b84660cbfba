"""Windows of text as batches, for all data sets of text for `fit`, and their statistics.

Text is read in windows of 100,000 examples. Each operation processes all examples of a window at
once, because the overhead of `tf.data` per element is larger than the time of the tokenizer.

Axes: N examples of a window, B batch, V ids, K buckets of lengths.
"""

import copy
import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from kformer.training.data.batching import Batching, BatchOptions, row_lengths
from kformer.training.data.consistency import TwoViews, shapes_of_views
from kformer.training.data.dropped_pairs import REASONS
from kformer.training.data.mixture import Mixture, longer_side, without_autotuning
from kformer.training.data.noise import Noise

_MARKS = 2**20  # Beyond the numbers of windows; the seed of marks.
COMPARED = 2**24  # Examples whose hashes, of 8 bytes, are kept to find duplicates.


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts of a text, in bounded memory; the counts of two texts can be added.

    An example that a pass reads several times counts once, except in `batches` and `tokens`.

    Attributes:
        pieces: For both sides, the frequency of each id, int64 (V,), without end ids.
        longest: For both sides, the ids of the longest example, the number of its file and of its
            line; of a line of more bytes than `PairFilter` allows, the beginning counts.
        reasons: Numbers of kept and dropped examples, int64 (4,) in order of `REASONS`.
        identical: Number of examples with the same text, not blank, on both sides.
        batches: Numbers of batches of a pass by bucket, int64 (K,).
        tokens: For both sides, the ids of a pass, end ids included, int64 (2,).
        hashes: Hashes of the first examples that are not blank, int64 (at most `COMPARED`,).
    """

    pieces: tuple[np.ndarray, np.ndarray]
    longest: tuple[tuple[int, int, int], tuple[int, int, int]]
    reasons: np.ndarray
    identical: int
    batches: np.ndarray
    tokens: np.ndarray
    hashes: np.ndarray

    def __add__(self, addend):
        return Statistics(
            tuple(map(np.add, self.pieces, addend.pieces)),
            tuple(
                max(pair, key=lambda item: item[0])
                for pair in zip(self.longest, addend.longest, strict=True)
            ),
            self.reasons + addend.reasons,
            self.identical + addend.identical,
            self.batches + addend.batches,
            self.tokens + addend.tokens,
            np.concatenate([self.hashes, addend.hashes])[:COMPARED],
        )


def sum_of(statistics: Sequence[Statistics]) -> Statistics:
    """Adds statistics of several texts."""
    return functools.reduce(operator.add, statistics)


class Windows:
    """Windows of two-sided text as ragged rows of ids, and the batches of a window.

    Args:
        sides: For each side an object with the methods `tokenize` and `with_end` of
            `kformer.Tokenizer`, from strings to rows of ids.
        mixture: `Mixture`, which reads the text.
        options: `BatchOptions`; its limits, order and seed are used.
        batching: `Batching`.
        batch: Function from the rows of a batch, `tf.RaggedTensor`s (B, None) of both sides, and
            its shape if it is fixed, to an element of the data set.
        respellings: For each side the functions (rows, seed) -> rows that spell text in other ids.
        views: `TwoViews` of a batch; None for one view.
        noise: `Noise` of the text; or None.
        cut: Whether rows that are too long are cut, instead of being dropped.
        prefix_ids: For each corpus the id that stands before its sources; None for none.
        marking: Function without arguments that returns a `Marking`, for marks in random pairs.
    """

    def __init__(
        self,
        sides: Sequence,
        mixture: Mixture,
        options: BatchOptions,
        batching: Batching,
        batch: Callable,
        respellings: Sequence = ((), ()),
        views: TwoViews | None = None,
        cut: bool = False,
        noise: Noise | None = None,
        prefix_ids: Sequence[int] | None = None,
        marking: Callable | None = None,
    ):
        self._sides = sides
        self.mixture = mixture
        self._filter = options.filter
        self.batching = batching
        self._batch = batch
        self._respellings = respellings
        self._views = views
        self._noise = noise
        self._shuffle, self._seed = options.shuffle, options.seed
        self._cut, self._learn_marking = cut, marking
        self._prefix_ids = None if prefix_ids is None else tf.constant(prefix_ids, tf.int32)

    @property
    def max_length(self) -> int:
        """Maximum number of ids of a row."""
        return self._filter.max_length

    def with_sides(self, sides: Sequence) -> "Windows":
        """Returns windows of the same text with other tokenizers, for its statistics alone."""
        changed = copy.copy(self)
        changed.__dict__.pop("statistics", None)
        changed._sides = sides
        return changed

    @functools.cached_property
    def statistics(self) -> Statistics:
        """The counts of the text and of its batches, which takes a reading of all of it.

        They are kept until `dataset` needs the number of batches, which saves another reading.
        """
        total: list[Statistics] = []
        for window in self._eager_windows(with_places=True):
            total = [sum_of([*total, self._statistics(*window)])]
        return total[0]

    @functools.cached_property
    def _batch_counts(self):
        """The number of batches of each bucket, int64 (K,); it is the same for all passes."""
        statistics = self.__dict__.pop("statistics", None)  # Those of a long text are large.
        if statistics is not None:
            return statistics.batches
        return sum(self._counts(*text_and_seed) for text_and_seed in self._eager_windows())

    def _eager_windows(self, with_places=False):
        """Yields the windows of a pass without a graph, each with its seed."""
        seed = tf.constant([self._seed, 0], tf.int64)
        for i, window in enumerate(self.mixture.eager_windows(with_places)):
            yield *window, tf.random.fold_in(seed, i)

    @tf.autograph.experimental.do_not_convert  # It takes half of the time, and finds nothing.
    def dataset(self, epoch: tf.Variable | None = None) -> tf.data.Dataset:
        """Returns the batches of one pass after another.

        It has an attribute `shapes`, a list of the shapes (rows, length) of batches if they are
        fixed; else the list is empty.

        Args:
            epoch: Number of the pass, a scalar int64 variable on the CPU, read when the first batch
                of an iteration is fetched. By default the passes are counted from 0.
        """
        dataset = number_of_pass(epoch)
        # The next window is prepared while the batches of a window are used.
        dataset = dataset.flat_map(
            lambda number: (
                self._map_windows(number, self._window).prefetch(1).flat_map(self._batches)
            )
        )
        # With a known cardinality, Keras shows the time left and ends an epoch without a warning.
        counts = self._batch_counts
        if not counts.any():
            raise ValueError(
                "No text is left: every pair of lines has a blank side or is too long. "
                f"Received: max_length={self._filter.max_length}."
            )
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(counts.sum()))
        shapes = self.batching.shapes_of(counts)
        dataset.shapes = shapes_of_views(shapes, self._views)  # For `CompileAhead`.
        return dataset

    @functools.cached_property
    def _marking(self):
        with tf.init_scope():  # A data set is defined in a graph.
            return self._learn_marking() if self._learn_marking else None

    def _map_windows(self, number, function):
        """Yields `function(source, target, rounds, seed)` for each window of a pass."""
        seed = tf.stack([tf.constant(self._seed, tf.int64), number])
        windows = self.mixture.windows().enumerate()
        return windows.map(lambda i, text: function(*text, tf.random.fold_in(seed, i)))

    def _statistics(self, source, target, rounds, places, seed):
        """Returns the `Statistics` of a window, from eager tensors."""
        rows = self._tokenized(source, target, rounds)
        is_first = places >= 0
        lengths = [length + 1 for length in row_lengths(rows)]
        too_long = longer_side(source, target) > self._filter.most_bytes
        reasons = tf.boolean_mask(self._filter(*lengths, too_long, library=tf), is_first)
        is_text = reasons != REASONS.index("blank")
        first = [tf.boolean_mask(text, is_first) for text in (source, target)]
        same = tf.equal(*map(tf.strings.strip, first))
        texts = tf.boolean_mask(tf.strings.join(first, "\n"), is_text)
        tokens, batches = self._counts_of(rows, source, target, rounds, seed)
        longest = [int(tf.argmax(tf.where(is_first, length, 0))) for length in lengths]
        return Statistics(
            tuple(
                np.bincount(
                    tf.ragged.boolean_mask(ids, is_first).flat_values, minlength=side.vocab_size
                )
                for side, ids in zip(self._sides, rows, strict=True)
            ),
            tuple(
                (int(length[i]), *self.mixture.place_of(int(places[i])))
                for length, i in zip(lengths, longest, strict=True)
            ),
            np.bincount(reasons, minlength=len(REASONS)),
            int(tf.math.count_nonzero(same & is_text)),
            batches,
            tokens,
            tf.strings.to_hash_bucket_fast(texts, 2**63 - 1).numpy(),
        )

    def _counts(self, source, target, rounds, seed):
        """Returns the number of batches of each bucket in a window, int64 (K,)."""
        rows = self._tokenized(source, target, rounds)
        return self._counts_of(rows, source, target, rounds, seed)[1]

    def _counts_of(self, rows, source, target, rounds, seed):
        """Returns the ids of both sides in the batches of a window, and the batches by bucket.

        `rows` are those of `_tokenized`, the other arguments are as for `_counts`.
        """
        *_, lengths = self._chosen(rows, source, target, rounds, _seeds(seed))
        tokens = np.array([int(tf.reduce_sum(length)) for length in lengths])
        return tokens, self.batching.counts(*lengths)

    def _tokenized(self, source, target, rounds):
        """Returns the rows of both sides, without end ids."""
        source_side, target_side = self._sides
        if self._prefix_ids is None:
            return [source_side.tokenize(source), target_side.tokenize(target)]
        prefix_ids = tf.gather(self._prefix_ids, self.mixture.corpus_of(rounds))
        return [source_side.tokenize(source, prefix_ids), target_side.tokenize(target)]

    def _chosen(self, rows, source, target, rounds, seeds):
        """Returns the rows of a window without end ids, those that are used, and their lengths.

        The lengths count the end ids. They are neither those of respelled rows nor shuffled yet, so
        every pass has as many batches.
        """
        if self._cut:
            rows = [side[:, : self._filter.max_length - 1] for side in rows]
        lengths = [length + 1 for length in row_lengths(rows)]
        too_long = longer_side(source, target) > self._filter.most_bytes
        fit = tf.where(self._filter(*lengths, too_long, library=tf) == 0)[:, 0]
        bucket = tf.gather(self.batching.bucket(*lengths), fit)
        chosen = tf.gather(fit, self.mixture.thin(tf.gather(rounds, fit), bucket, next(seeds)))
        return rows, chosen, [tf.gather(length, chosen) for length in lengths]

    def _window(self, source, target, rounds, seed):
        """Returns the input of `_batches`: rows, order, batches' limits and buckets, the seed."""
        seeds, rows = _seeds(seed), self._tokenized(source, target, rounds)
        rows, chosen, lengths = self._chosen(rows, source, target, rounds, seeds)
        rows = [
            side.with_end(tf.gather(row, chosen))
            for side, row in zip(self._sides, rows, strict=True)
        ]
        if self._noise is not None:
            texts = tf.gather(source, chosen), tf.gather(target, chosen), tf.gather(rounds, chosen)
            rows = self._with_noise(rows, texts, self.batching.most_ids(*lengths), seed)
        respelled = [*rows]
        if self._marking is not None:
            respelled = [*self._marking(*rows, tf.random.fold_in(seed, _MARKS))]
        limits = self.batching.limits(*lengths)
        buckets = self.batching.buckets(*lengths, limits)
        for i, respellings in enumerate(self._respellings):
            for respell in respellings:
                respelled[i] = respell(respelled[i], next(seeds))
        number = rows[0].nrows()
        tie = tf.range(number)
        if self._shuffle:
            tie = tf.random.stateless_uniform([number], next(seeds), 0, 2**32, tf.int64)
        rows, order = self.batching.arrange(lengths, rows, respelled, tie)
        if self._noise is not None or self._marking is not None:
            lengths = [tf.gather(length, order) for length in row_lengths(rows)]
            limits = self.batching.rebalanced(limits, *lengths)
        if self._shuffle:
            order, limits, buckets = _shuffle_batches(order, limits, buckets, next(seeds))
        return *rows, order, limits, buckets, seed

    def _with_noise(self, rows, texts, most, seed):
        """Returns rows with end ids in which random ones are those of noisy text, where they fit.

        Args:
            texts: string tensors (N,) of both sides, and their rounds, int32 (N,).
            most: int32 tensor (N,), the most ids of a side that fit.
            seed: int64 tensor (2,).
        """
        types = [tf.int64, tf.string, tf.string]
        *sides, rounds = texts
        inputs = [*sides, self.mixture.group_of(rounds), seed]
        places, *sides = tf.numpy_function(self._noisy, inputs, types, stateful=False)
        for tensor in (places, *sides):
            tensor.set_shape([None])
        noisy = self._tokenized(*sides, tf.gather(rounds, places))
        if self._cut:
            noisy = [side[:, : self._filter.max_length - 1] for side in noisy]
        noisy = [side.with_end(row) for side, row in zip(self._sides, noisy, strict=True)]
        fits = tf.maximum(*row_lengths(noisy)) <= tf.gather(most, places)
        number = rows[0].nrows()
        moved = number + tf.range(tf.size(places, tf.int64))
        chosen = tf.tensor_scatter_nd_update(
            tf.range(number), places[:, tf.newaxis], tf.where(fits, moved, places)
        )
        pairs = zip(rows, noisy, strict=True)
        return [tf.gather(tf.concat(both, axis=0), chosen) for both in pairs]

    def _noisy(self, source, target, groups, seed):
        """Returns the places and both sides of the pairs of a window that noise changes.

        The arguments and the result are arrays; texts are UTF-8.
        """
        sides = [[text.decode("utf-8", "replace") for text in side] for side in (source, target)]
        high, low = seed.view(np.uint64).tolist()
        changed = self._noise(*sides, high << 64 | low, groups.tolist())
        noisy = ([pair[side].encode() for pair in changed.values()] for side in range(2))
        places = np.fromiter(changed, np.int64, len(changed))
        return places, *(np.array(side, dtype=np.object_) for side in noisy)

    def _batches(self, source, target, order, limits, buckets, seed):
        """Yields the batches of a window."""

        def batch(i):
            chosen = order[limits[i] : limits[i + 1]]
            rows = tf.gather(source, chosen), tf.gather(target, chosen)
            element = self.batching.part(self._batch(*rows, self.batching.shape(buckets[i])))
            if self._views is None:
                return element
            seed_of_share = tf.random.fold_in(seed, self.batching.share)
            return self._views(element, tf.random.fold_in(seed_of_share, i))

        numbers = tf.data.Dataset.range(tf.size(limits, tf.int64) - 1)
        return numbers.map(batch, tf.data.AUTOTUNE, deterministic=True)


def _seeds(seed):
    return iter(tf.unstack(tf.random.split(seed, 7)))


def _shuffle_batches(order, limits, buckets, seed):
    batches = tf.RaggedTensor.from_row_splits(order, limits, validate=False)
    shuffled = tf.argsort(tf.random.stateless_uniform([batches.nrows()], seed))
    batches = tf.gather(batches, shuffled)
    return batches.values, batches.row_splits, tf.gather(buckets, shuffled)


def number_of_pass(epoch: tf.Variable | None) -> tf.data.Dataset:
    """Returns a data set of one element, the number of the pass that begins, for `Windows`."""
    begin = without_autotuning(tf.data.Dataset.from_tensors(0))
    if epoch is not None:
        return begin.map(lambda _: tf.identity(epoch))
    with tf.device("CPU:0"):  # Where `tf.data` runs.
        passes = tf.Variable(-1, trainable=False, dtype=tf.int64)
    return begin.map(lambda _: passes.assign_add(1))
