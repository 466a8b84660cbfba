"""Windows of text as batches, for all data sets of text for `fit`.

Text is read in windows of 100,000 examples. Each operation processes all examples of a window at
once, because the overhead of `tf.data` per element is larger than the time of the tokenizer.

Axes: N examples of a window, B batch.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf

from kformer.training.data.batching import Batching, row_lengths
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import Mixture, longer_side, without_autotuning


class Windows:
    """Windows of two-sided text as ragged rows of ids, and the batches of a window.

    Args:
        sides: For each side an object with the methods `tokenize` and `with_end` of
            `kformer.Tokenizer`, from strings to rows of ids.
        mixture: `Mixture`, which reads the text.
        filter_pairs: `PairFilter`, which drops examples.
        batching: `Batching`.
        batch: Function from the rows of a batch, `tf.RaggedTensor`s (B, None) of both sides, and
            its shape if it is fixed, to an element of the data set.
        respellings: For each side the functions (rows, seed) -> rows that spell text in other ids.
        shuffle: Whether to shuffle each pass, within windows.
        seed: Of the shuffling, and of the respellings.
    """

    def __init__(
        self,
        sides: Sequence,
        mixture: Mixture,
        filter_pairs: PairFilter,
        batching: Batching,
        batch: Callable,
        respellings: Sequence = ((), ()),
        shuffle: bool = True,
        seed: int = 0,
    ):
        self._sides = sides
        self._mixture = mixture
        self._filter = filter_pairs
        self._batching = batching
        self._batch = batch
        self._respellings = respellings
        self._shuffle = shuffle
        self._seed = seed

    @tf.autograph.experimental.do_not_convert  # It takes half of the time, and finds nothing.
    def dataset(self, epoch: tf.Variable | None = None) -> tf.data.Dataset:
        """Returns the batches of one pass after another.

        It has an attribute `shapes`, a list of the shapes (rows, length) of batches if they are
        fixed; else the list is empty.

        Args:
            epoch: Number of the pass, a scalar int64 variable on the CPU, read when the first batch
                of an iteration is fetched. By default the passes are counted from 0.

        Raises:
            ValueError: All examples are dropped.
        """
        dataset = number_of_pass(epoch)
        # The next window is prepared while the batches of a window are used.
        dataset = dataset.flat_map(
            lambda number: (
                self._map_windows(number, self._window).prefetch(1).flat_map(self._batches)
            )
        )
        # With a known cardinality, Keras shows the time left and ends an epoch without a warning.
        counts = self._count_batches()
        if not counts.any():
            raise ValueError(
                "No text is left: every pair of lines has a blank side or is too long. "
                f"Received: max_length={self._filter.max_length}."
            )
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(counts.sum()))
        dataset.shapes = self._batching.shapes_of(counts)  # For `CompileAhead`.
        return dataset

    def _count_batches(self):
        """Returns the number of batches of each bucket, int64; it is the same for all passes."""

        seed = tf.constant([self._seed, 0], tf.int64)
        return sum(
            self._counts(*text, tf.random.fold_in(seed, i))
            for i, text in enumerate(self._mixture.eager_windows())
        )

    def _map_windows(self, number, function):
        """Yields `function(source, target, rounds, seed)` for each window of a pass."""
        seed = tf.stack([tf.constant(self._seed, tf.int64), number])
        windows = self._mixture.windows().enumerate()
        return windows.map(lambda i, text: function(*text, tf.random.fold_in(seed, i)))

    def _counts(self, source, target, rounds, seed):
        """Returns the number of batches of each bucket in a window, int64 (K,)."""
        return self._batching.counts(*self._rows(source, target, rounds, _seeds(seed))[-1])

    def _rows(self, source, target, rounds, seeds):
        """Returns the rows of a window without end ids, those that are used, and their lengths.

        The lengths count the end ids. They are neither those of respelled rows nor shuffled yet, so
        every pass has as many batches.
        """
        rows = [
            side.tokenize(text) for side, text in zip(self._sides, (source, target), strict=True)
        ]
        lengths = [length + 1 for length in row_lengths(rows)]
        too_long = longer_side(source, target) > self._filter.most_bytes
        fit = tf.where(self._filter(*lengths, too_long, library=tf) == 0)[:, 0]
        bucket = tf.gather(self._batching.bucket(*lengths), fit)
        chosen = tf.gather(fit, self._mixture.thin(tf.gather(rounds, fit), bucket, next(seeds)))
        return rows, chosen, [tf.gather(length, chosen) for length in lengths]

    def _window(self, source, target, rounds, seed):
        """Returns the input of `_batches`: rows, their order, batches' limits and buckets."""
        seeds = _seeds(seed)
        rows, chosen, lengths = self._rows(source, target, rounds, seeds)
        rows = [
            side.with_end(tf.gather(row, chosen))
            for side, row in zip(self._sides, rows, strict=True)
        ]
        limits = self._batching.limits(*lengths)
        buckets = self._batching.buckets(*lengths, limits)
        respelled = [*rows]
        for i, respellings in enumerate(self._respellings):
            for respell in respellings:
                respelled[i] = respell(respelled[i], next(seeds))
        number = rows[0].nrows()
        tie = tf.range(number)
        if self._shuffle:
            tie = tf.random.stateless_uniform([number], next(seeds), 0, 2**32, tf.int64)
        rows, order = self._batching.arrange(rows, respelled, tie)
        if self._shuffle:
            order, limits, buckets = _shuffle_batches(order, limits, buckets, next(seeds))
        return *rows, order, limits, buckets

    def _batches(self, source, target, order, limits, buckets):
        """Yields the batches of a window."""

        def batch(i):
            chosen = order[limits[i] : limits[i + 1]]
            rows = tf.gather(source, chosen), tf.gather(target, chosen)
            return self._batching.part(self._batch(*rows, self._batching.shape(buckets[i])))

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
