"""Parallel text to batches for `model.fit`: streamed, tokenised in graph, bucketed by length.

Axes: B batch, S source length, T target length.
"""

import functools

import numpy as np
import tensorflow as tf

from kformer.training.byte_spelling import ByteSpelling
from kformer.training.text_files import as_list, check_parallel

SHUFFLED = 100_000  # Pairs in the shuffle buffer: some 50 MB.
_LINES = 1024  # Tokenised at once.


def translation_dataset(
    source_files,
    target_files,
    tokenizer,
    target_tokenizer=None,
    *,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    byte_spelling: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
):
    """Reads parallel text as batches of about the same number of tokens.

    Pairs of which a side is blank or has more than `max_length` ids are left out. The others are
    put into buckets of like length and padded to the bucket's length, so that there are few
    shapes, and a batch has `tokens_per_batch` ids or a little less on its longer side.

    Args:
        source_files, target_files: A path or a list of paths each, UTF-8, `.gz` or plain; line n
            of the one translates line n of the other.
        tokenizer: `kformer.Tokenizer` of the source, and of the target if that has no own.
        target_tokenizer: `kformer.Tokenizer` of the target, if it has a vocabulary of its own.
        tokens_per_batch: Ids of the longer side, with padding.
        max_length: Most ids of a sentence, its end (or start) id included.
        byte_spelling: Share of the pieces that are spelled in bytes, so that the byte ids are
            learnt; see `kformer.training.byte_spelling`.
        shuffle: Whether to shuffle, anew for every epoch; over a window of 100,000 pairs.
        seed: Of the shuffling and of the choice of pieces to spell.

    Returns:
        `tf.data.Dataset` of ((source (B, S), target_in (B, T)), target_out (B, T)), int32. A
        source is pieces + end, target_in is start + pieces, target_out is pieces + end.

    Raises:
        FileNotFoundError, ValueError: See `check_parallel`; or no pair is left.
    """
    source_files, target_files = as_list(source_files), as_list(target_files)
    check_parallel(source_files, target_files)
    if tokens_per_batch < max_length:
        raise ValueError(
            "`tokens_per_batch` must be at least `max_length`, so that every sentence fits. "
            f"Received: tokens_per_batch={tokens_per_batch}, max_length={max_length}."
        )
    target_tokenizer = target_tokenizer or tokenizer
    lines = tf.data.Dataset.zip(_lines(source_files), _lines(target_files)).batch(_LINES)
    tokenize = _Tokenize(tokenizer, target_tokenizer, max_length, byte_spelling, seed)
    blocks = lines.enumerate().map(tokenize, tf.data.AUTOTUNE, deterministic=True)
    # A row of a ragged tensor is a tensor only once a function has seen it.
    pairs = blocks.unbatch().map(lambda source, target: (tf.identity(source), tf.identity(target)))
    if shuffle:
        pairs = pairs.shuffle(SHUFFLED, seed=seed, reshuffle_each_iteration=True)
    boundaries = list(bucket_lengths(max_length))
    sizes = [tokens_per_batch // length for length in boundaries]
    batches = pairs.bucket_by_sequence_length(
        lambda source, target: tf.maximum(tf.size(source), tf.size(target)),
        [length + 1 for length in boundaries],  # A bucket holds what is shorter than this.
        [*sizes, 1],  # Nothing is longer than the last.
        padding_values=(tokenizer.padding_id, target_tokenizer.padding_id),
        pad_to_bucket_boundary=True,
    )

    def shift(source, target):
        start = tf.fill([tf.shape(target)[0], 1], target_tokenizer.start_id)
        target_in = tf.concat([start, target[:, :-1]], axis=1)
        ended = target_in == target_tokenizer.end_id
        return (source, tf.where(ended, target_tokenizer.padding_id, target_in)), target

    batches = batches.map(shift, tf.data.AUTOTUNE, deterministic=True).prefetch(tf.data.AUTOTUNE)
    # Keras shows the time left, and ends an epoch without a warning, where it knows this.
    number = _count_batches(blocks, boundaries, sizes)
    return batches.apply(tf.data.experimental.assert_cardinality(number))


class _Tokenize:
    """Maps a numbered block of lines to ragged rows of ids, without the pairs that do not fit."""

    def __init__(self, tokenizer, target_tokenizer, max_length, byte_spelling, seed):
        self._sides = [
            (tokenizer, ByteSpelling(tokenizer, byte_spelling, seed)),
            (target_tokenizer, ByteSpelling(target_tokenizer, byte_spelling, seed + 1)),
        ]
        self._max_length = max_length

    def __call__(self, number, texts):
        source, target = (
            tokenizer.with_end(spell(tokenizer.tokenize(text), number))
            for (tokenizer, spell), text in zip(self._sides, texts, strict=True)
        )
        lengths = tf.stack([source.row_lengths(), target.row_lengths()])
        # A length of 1 is just the end: a blank line.
        fits = tf.reduce_all((lengths > 1) & (lengths <= self._max_length), axis=0)
        return tf.ragged.boolean_mask(source, fits), tf.ragged.boolean_mask(target, fits)


def _count_batches(blocks, boundaries, sizes):
    """Counts batches by one pass over the tokenised `blocks`: each bucket rounds up."""

    def longer_side(source, target):
        return tf.maximum(source.row_lengths(), target.row_lengths())

    counts = np.zeros(len(boundaries), int)
    for lengths in blocks.map(longer_side).as_numpy_iterator():
        buckets = np.searchsorted(boundaries, lengths)
        counts += np.bincount(buckets, minlength=len(boundaries))
    if not counts.any():
        raise ValueError(
            "No pair is left: every one has a blank side or is too long. "
            f"Received: max_length={boundaries[-1]}."
        )
    return int(np.sum(-(-counts // np.array(sizes))))


def bucket_lengths(max_length: int):
    """Yields the lengths of the buckets: multiples of 4 that grow by about an eighth."""
    length = 8
    while length < max_length:
        yield length
        length += max(4, length // 8 // 4 * 4)
    yield max_length


def _lines(files):
    datasets = [
        tf.data.TextLineDataset(file, "GZIP" if file.endswith(".gz") else "")
        for file in files
    ]
    return functools.reduce(tf.data.Dataset.concatenate, datasets)
