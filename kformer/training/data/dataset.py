"""Streams parallel text as batches for `model.fit`: tokenized in graph and batched by length.

Text is read in windows of 100,000 pairs. Each operation processes all pairs of a window at once,
because the overhead of `tf.data` per element is larger than the time of the tokenizer.

Axes: B batch, S source length, T target length.
"""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import Batching
from kformer.training.data.byte_fallback import ByteFallbackAugmentation
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import Mixture
from kformer.training.data.subword_regularization import SubwordRegularization


def translation_dataset(
    source_files: str | Path | Sequence[str | Path],
    target_files: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer | None = None,
    target_tokenizer: Tokenizer | None = None,
    *,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
) -> tf.data.Dataset:
    """Reads parallel text as batches of about the same number of tokens.

    Pairs with a blank side or with more than `max_length` ids on a side are dropped. Each other
    pair is in every pass once (but see `weights`), in a batch of pairs of similar length. Each side
    of a batch is padded to its longest row, rounded up so that there are few shapes. A batch has at
    most `tokens_per_batch` ids on its longer side, and hardly fewer. (`piece_splitting` and
    `byte_spelling` add ids to that.)

    A pass depends only on the files, `seed` and its number. To resume an interrupted pass, assign
    its number to `epoch` and continue with `dataset.skip(k)`. Every pass has
    `dataset.cardinality()` batches.

    Args:
        source_files, target_files: A path or a list of paths each, UTF-8, `.gz` or plain; line n
            of a target file translates line n of its source file. Several files are read side by
            side, so that every part of a pass has a share of each.
        tokenizer: `kformer.Tokenizer` of the source, or of both sides.
        target_tokenizer: `kformer.Tokenizer` of the target, if it has its own vocabulary.
        tokens_per_batch: Maximum ids of the longer side of a batch, with padding.
        max_length: Maximum ids per sentence, its end (or start) id included.
        max_length_ratio: Maximum ratio of the longer side of a pair to the shorter, in ids; see
            `PairFilter`. None for any ratio.
        weights: How often a pass reads each pair of files: 2 for every line twice, 0.5 for a
            random half of the lines, which differs between passes; see `Mixture`. 1 by default.
        temperature: Instead of `weights`: above 1, small corpora are read more often; see
            `Mixture`.
        piece_splitting: Rate of subword regularization: share of the pieces that are split into
            smaller ones; see `kformer.training.data.subword_regularization`.
        byte_spelling: Rate of byte-fallback augmentation: share of the pieces that are spelled in
            bytes; see `kformer.training.data.byte_fallback`.
        shuffle: Whether to shuffle each pass, within windows of 100,000 pairs.
        seed: Seed of the shuffling, and of the choice of pieces to split or spell in bytes.
        epoch: Number of the pass, a scalar int64 variable on the CPU, read when the first batch of
            an iteration is fetched. By default the passes are counted from 0.

    Returns:
        `tf.data.Dataset` of ((source (B, S), target_in (B, T)), target_out (B, T)), int32. A
        source is pieces + end, target_in is start + pieces, target_out is pieces + end.

    Raises:
        FileNotFoundError, ValueError: See `check_parallel`; or all pairs are dropped.
        TypeError: The files are not paths but sentences, or there is no tokenizer.
    """
    source_files, target_files = as_list(source_files), as_list(target_files)
    if tokenizer is None:
        raise TypeError(
            "`translation_dataset` needs source files, target files and a tokenizer. "
            f"Received: {tokenizer=}."
        )
    mixture = Mixture(source_files, target_files, weights, temperature)
    if tokens_per_batch < max_length:
        raise ValueError(
            "`tokens_per_batch` must be at least `max_length`, so that every sentence fits. "
            f"Received: tokens_per_batch={tokens_per_batch}, max_length={max_length}."
        )
    tokenizers = tokenizer, target_tokenizer or tokenizer
    kinds = (
        (SubwordRegularization, piece_splitting),
        (ByteFallbackAugmentation, byte_spelling),
    )
    windows = _Windows(
        tokenizers,
        mixture,
        PairFilter(max_length, max_length_ratio),
        {side: [kind(side, rate) for kind, rate in kinds if rate] for side in {*tokenizers}},
        Batching(tokens_per_batch, max_length),
        shuffle,
        seed,
    )
    dataset = _number_of_pass(epoch)
    # The next window is prepared while the batches of a window are used.
    dataset = dataset.flat_map(
        lambda number: windows.of_pass(number).prefetch(1).flat_map(windows.batches)
    )
    # With a known cardinality, Keras shows the time left and ends an epoch without a warning.
    number = _count_batches(windows.of_pass(tf.constant(0, tf.int64)), max_length)
    dataset = dataset.prefetch(tf.data.AUTOTUNE)
    return dataset.apply(tf.data.experimental.assert_cardinality(number))


class _Windows:
    """Windows of text as ragged rows of ids, and the batches of a window."""

    def __init__(self, tokenizers, mixture, filter_pairs, respellings, batching, shuffle, seed):
        self._tokenizers = tokenizers
        self._mixture = mixture
        self._filter = filter_pairs
        self._respellings = respellings
        self._batching = batching
        self._shuffle = shuffle
        self._seed = seed

    def of_pass(self, number):
        """Yields the rows of each window of a pass, their order, and the limits of batches."""
        seed = tf.stack([tf.constant(self._seed, tf.int64), number])
        return (
            self._mixture.windows()
            .enumerate()
            .map(lambda i, text: self._window(*text, tf.random.fold_in(seed, i)))
        )

    def _window(self, source, target, rounds, seed):
        seeds = iter(tf.unstack(tf.random.split(seed, 7)))
        rows = [
            tokenizer.with_end(tokenizer.tokenize(text))
            for tokenizer, text in zip(self._tokenizers, (source, target), strict=True)
        ]
        lengths = _lengths(rows)
        fit = tf.where(self._filter(*lengths, library=tf) == 0)[:, 0]
        bucket = tf.gather(self._batching.bucket(*lengths), fit)
        chosen = tf.gather(fit, self._mixture.thin(tf.gather(rounds, fit), bucket, next(seeds)))
        rows = [tf.gather(side, chosen) for side in rows]
        # Before the respelling, so that every pass has the same number of batches.
        limits = self._batching.limits(*_lengths(rows))
        for i, tokenizer in enumerate(self._tokenizers):
            for respell in self._respellings[tokenizer]:
                rows[i] = respell(rows[i], next(seeds))
        number = rows[0].nrows()
        tie = tf.range(number)
        if self._shuffle:
            tie = tf.random.stateless_uniform([number], next(seeds), 0, 2**32, tf.int64)
        order = self._batching.order(*_lengths(rows), tie)
        if self._shuffle:
            order, limits = _shuffle_batches(order, limits, next(seeds))
        return *rows, order, limits

    def batches(self, source, target, order, limits):
        """Yields the batches of a window, ((source, target_in), target_out)."""

        def batch(i):
            chosen = order[limits[i] : limits[i + 1]]
            return self._batch(tf.gather(source, chosen), tf.gather(target, chosen))

        numbers = tf.data.Dataset.range(tf.size(limits, tf.int64) - 1)
        return numbers.map(batch, tf.data.AUTOTUNE, deterministic=True)

    def _batch(self, source, target):
        tokenizer, target_tokenizer = self._tokenizers
        target_in = target_tokenizer.with_start(target[:, :-1])
        source = self._batching.pad(source, tokenizer.padding_id)
        target_in, target_out = (
            self._batching.pad(rows, target_tokenizer.padding_id) for rows in (target_in, target)
        )
        return (source, target_in), target_out


def _lengths(rows):
    return [tf.cast(side.row_lengths(), tf.int32) for side in rows]


def _shuffle_batches(order, limits, seed):
    batches = tf.RaggedTensor.from_row_splits(order, limits, validate=False)
    batches = tf.gather(batches, tf.argsort(tf.random.stateless_uniform([batches.nrows()], seed)))
    return batches.values, batches.row_splits


def _number_of_pass(epoch):
    """Returns a data set of one element, the number of the pass that begins."""
    begin = tf.data.Dataset.from_tensors(0)
    if epoch is not None:
        return begin.map(lambda _: tf.identity(epoch))
    with tf.device("CPU:0"):  # Where `tf.data` runs.
        passes = tf.Variable(-1, trainable=False, dtype=tf.int64)
    return begin.map(lambda _: passes.assign_add(1))


def _count_batches(windows, max_length):
    batches = windows.map(lambda source, target, order, limits: tf.size(limits, tf.int64) - 1)
    number = batches.reduce(tf.constant(0, tf.int64), tf.add).numpy()
    if not number:
        raise ValueError(
            "No pair is left: every one has a blank side or is too long. "
            f"Received: max_length={max_length}."
        )
    return number
