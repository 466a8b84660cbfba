"""Batches of sentence pairs of similar length, with about the same number of tokens.

A window has N pairs. A bucket is a range of lengths. A batch has B rows.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kformer.backend import batch_devices, is_tensorflow, share_of_batches
from kformer.inference.source_marks import TERMS
from kformer.training.data.consistency import TwoViews
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.respelling import ByteFallbackAugmentation, SubwordRegularization
from kformer.training.recipes.noise_rates import NO_NOISE
from kformer.training.recipes.recipe import NO_CONSISTENCY, Recipe

_GROWTH_BY_TERMS = 0.25  # Most sources have none; longer ones stay without terms.


@dataclasses.dataclass(frozen=True)
class BatchOptions:
    """How text becomes batches, for all data sets.

    `translation_dataset` documents the fields; `marks` are of
    `kformer.inference.source_marks.KINDS`.
    """

    tokens_per_batch: int
    max_length: int
    piece_splitting: float = 0.0
    byte_spelling: float = 0.0
    fixed_shapes: bool | None = None
    shuffle: bool = True
    seed: int = 0
    max_length_ratio: float | None = None
    weights: list[float] | None = None
    temperature: float | None = None
    consistency: str = NO_CONSISTENCY
    cutoff: float = 0.05
    noise: str = NO_NOISE
    marks: tuple[str, ...] = ()

    @classmethod
    def for_training(cls, recipe: Recipe, **mixture: Any) -> "BatchOptions":
        """Returns the options of training by a recipe; `mixture` has other fields by name."""
        own = {field.name for field in dataclasses.fields(cls)} - {"max_length_ratio"}
        names = {field.name for field in dataclasses.fields(Recipe)} & own
        numbers = {name: getattr(recipe, name) for name in names}
        return cls(max_length_ratio=recipe.max_length_ratio or None, **numbers, **mixture)

    def for_validation(self) -> "BatchOptions":
        """Returns the options for validation text: in its order, each once, with its own pieces."""
        return BatchOptions(
            self.tokens_per_batch,
            self.max_length,
            fixed_shapes=self.fixed_shapes,
            shuffle=False,
            max_length_ratio=self.max_length_ratio,
        )

    @property
    def filter(self) -> PairFilter:
        """The rule that drops pairs."""
        return PairFilter(self.max_length, self.max_length_ratio)

    def check_fit(self):
        """Raises ValueError unless a batch has space for the longest row."""
        if self.tokens_per_batch < self.max_length:
            raise ValueError(
                "`tokens_per_batch` must be at least `max_length`, so that every sentence fits. "
                f"Received: tokens_per_batch={self.tokens_per_batch}, max_length={self.max_length}."
            )

    def batching(self) -> "Batching":
        """Returns how rows become batches."""
        if not are_fixed(self.fixed_shapes):
            if (processes := share_of_batches()[1]) > 1:
                raise ValueError(
                    "Several processes share batches of fixed shapes alone. "
                    f"Received: fixed_shapes={self.fixed_shapes}, {processes} processes."
                )
            return Batching(self.tokens_per_batch, self.max_length)
        # Twice the expected growth: a split piece is two, one in bytes about five.
        growth = 1 + 2 * self.piece_splitting + 8 * self.byte_spelling
        growth += _GROWTH_BY_TERMS * (TERMS in self.marks)
        lengths = list(fixed_lengths(math.ceil(growth * self.max_length)))
        return FixedShapes(self.tokens_per_batch, lengths, growth, bool(self.marks))

    def respellings(self, tokenizer: Any) -> list:
        """Returns the functions (rows, seed) -> rows that respell rows of ids of a tokenizer."""
        kinds = (
            (SubwordRegularization, self.piece_splitting),
            (ByteFallbackAugmentation, self.byte_spelling),
        )
        return [kind(tokenizer, rate) for kind, rate in kinds if rate]

    def views(self, *tokenizers: Any) -> TwoViews | None:
        """Returns `TwoViews` of the inputs with these tokenizers; None for one view."""
        if self.consistency == NO_CONSISTENCY:
            return None
        return TwoViews(tokenizers, self.consistency, self.cutoff)


def are_fixed(fixed_shapes: bool | None) -> bool:
    """Returns `fixed_shapes`; None means fixed unless Keras runs on TensorFlow."""
    return not is_tensorflow() if fixed_shapes is None else fixed_shapes


class Batching:
    """Sorts pairs by length, the longest first, and cuts them into batches, in graph.

    A pair belongs to the bucket of its longer side. The pairs of a bucket are sorted by the length
    of the source, so that both sides need little padding. A batch has as many pairs as fit at the
    length of its first pair's bucket; only the last batch is not full.

    Args:
        tokens_per_batch: Maximum ids of the longer side of a batch, with padding.
        max_length: Maximum ids per sentence.

    Attributes:
        sizes: Numbers of pairs of a full batch by bucket, ascending in length.
        share, shares: Number of this process, and how many share each batch.
    """

    share, shares = 0, 1

    def __init__(self, tokens_per_batch: int, max_length: int):
        lengths = list(bucket_lengths(max_length))
        self.sizes = [tokens_per_batch // length for length in lengths]
        self._lengths, self._sizes = map(tf.constant, (lengths, self.sizes))

    def limits(self, source_lengths: Any, target_lengths: Any):
        """Returns where batches begin and end among pairs sorted by `arrange`.

        Args:
            source_lengths, target_lengths: int32 tensors (N,), in any order.

        Returns:
            int32 tensor (number of batches + 1,): batch i has the pairs from limits[i] up to
            limits[i + 1], exclusive.
        """
        bucket = tf.sort(self.bucket(source_lengths, target_lengths), direction="DESCENDING")
        sizes = tf.gather(self._sizes, bucket)
        number = tf.size(bucket)

        def one_more(limits):
            return [tf.concat([limits, [limits[-1] + sizes[limits[-1]]]], axis=0)]

        start = tf.constant([0])
        limits = tf.while_loop(
            lambda limits: limits[-1] < number, one_more, [start], [tf.TensorShape([None])]
        )[0]
        return tf.minimum(limits, number)

    def buckets(self, source_lengths: Any, target_lengths: Any, limits: Any):
        """Returns the bucket of each batch's longest pair, int32 (number of batches,)."""
        bucket = tf.sort(self.bucket(source_lengths, target_lengths), direction="DESCENDING")
        return tf.gather(bucket, limits[:-1])

    def counts(self, source_lengths: Any, target_lengths: Any) -> np.ndarray:
        """Returns the number of batches of each bucket, int64 (K,), from eager tensors.

        The arguments are as for `limits`, and a batch counts as one of the bucket of its longest
        pair: the counts are those of `buckets`.
        """
        bucket = self.bucket(source_lengths, target_lengths)
        pairs = np.bincount(bucket, minlength=len(self.sizes))
        batches, taken = np.zeros(len(self.sizes), np.int64), 0  # Pairs in a longer pair's batch.
        for k in reversed(range(len(self.sizes))):
            batches[k] = -(-max(0, pairs[k] - taken) // self.sizes[k])
            taken += batches[k] * self.sizes[k] - pairs[k]
        return batches

    def shapes_of(self, counts: np.ndarray) -> list[tuple[int, int]]:
        """Returns the shapes of batches, if they are fixed, from the result of `counts`."""
        return []

    def most_ids(self, source_lengths: Any, target_lengths: Any):
        """Returns the ids of a side that fit where pairs of given lengths are, int32 (N,)."""
        return tf.fill(tf.shape(source_lengths), self._lengths[-1])

    def rebalanced(self, limits: Any, source_lengths: Any, target_lengths: Any):
        """Returns limits of as many batches, each with about as many ids of the longer side.

        They replace `limits` where noise made some rows much longer, or a batch of these would have
        several times the ids of the others.

        Args:
            source_lengths, target_lengths: int32 tensors (N,), of the rows sorted by `arrange`.
        """
        ids = tf.cumsum(tf.cast(tf.maximum(source_lengths, target_lengths), tf.float64))
        number = tf.size(limits) - 1
        shares = tf.cast(tf.range(number + 1), tf.float64) / tf.cast(number, tf.float64)
        even = tf.searchsorted(ids, shares * ids[-1] + 0.5, side="right")
        return tf.where(tf.reduce_all(even[1:] > even[:-1]), even, limits)

    def arrange(self, lengths: Sequence, usual: Any, respelled: Any, tie: Any):
        """Sorts pairs, the longest first.

        Args:
            usual: Rows of both sides as int32 `tf.RaggedTensor`s (N, None), no longer than
                `most_ids`.
            tie: int64 tensor (N,) below 2^32; pairs of equal lengths are sorted by it.

        Returns:
            rows: Rows to train on, as `respelled`.
            order: Indices of the sorted pairs, int32 (N,).
        """
        return respelled, tf.argsort(tie - self.rank(*row_lengths(respelled)), stable=True)

    def rank(self, source_lengths: Any, target_lengths: Any):
        """Returns the sort keys of pairs, the highest first, int64 (N,): multiples of 2^32."""
        bucket = tf.cast(self.bucket(source_lengths, target_lengths), tf.int64)
        return bucket * 2**48 + tf.cast(source_lengths, tf.int64) * 2**32

    def bucket(self, source_lengths: Any, target_lengths: Any):
        """Returns the number of the bucket of each pair, int32 (N,)."""
        longer = tf.maximum(source_lengths, target_lengths)
        return tf.searchsorted(self._lengths, longer)

    def shape(self, bucket: Any) -> tuple | None:
        """Returns the rows and the length of a batch of a bucket; None unless they are fixed."""
        return None

    def shape_of_part(self, bucket: Any) -> tuple | None:
        """Returns the rows that this process computes of such a batch, and their length."""
        return None

    def pad(self, sides: Sequence, padding_ids: Sequence[int], shape: Any = None) -> list:
        """Pads each side to the smallest bucket length that fits it.

        Rows longer than all buckets, due to byte-fallback augmentation, get a multiple of 8.

        Args:
            sides: int32 `tf.RaggedTensor`s (B, None).

        Returns:
            int32 tensors (B, length of the side).
        """
        return [self._padded(*side) for side in zip(sides, padding_ids, strict=True)]

    def part(self, element: Any):
        """Returns the rows of a batch that this process computes, of tensors or tuples of them."""
        return element

    def _padded(self, rows, padding_id):
        longest = _longest(rows)
        lengths = tf.concat([self._lengths, [-(-longest // 8) * 8]], axis=0)
        length = tf.reduce_min(tf.boolean_mask(lengths, lengths >= longest))
        return rows.to_tensor(padding_id, shape=tf.stack([-1, length]))


class FixedShapes(Batching):
    """Batching into a few shapes, one for each bucket, for backends that compile each shape.

    Both sides of a batch have the length of the bucket. Its rows are a multiple of 8, unless fewer
    fit, because matrix units have such a width. A batch that is not full is filled up with rows of
    padding, also to a multiple of the number of devices that share it. Of several processes, each
    has its rows of every batch.

    Args:
        tokens_per_batch: Maximum ids of a side of a batch, with padding.
        lengths: Lengths of the buckets, ascending.
        growth: How many times as long a row may become when it is respelled. A row that becomes too
            long for its bucket keeps its usual spelling; if `together`, so does the other side.

    Attributes:
        shapes: The shapes (rows, length), the shortest first.
    """

    def __init__(
        self,
        tokens_per_batch: int,
        lengths: Sequence[int],
        growth: float = 1.0,
        together: bool = False,
    ):
        devices = batch_devices()
        self.sizes = [_whole_eights(tokens_per_batch // length) for length in lengths]
        rows = [math.ceil(size / devices) * devices for size in self.sizes]
        self.shapes = list(zip(rows, lengths, strict=True))
        self._growth, self._together = growth, together
        self.share, self.shares = share_of_batches()
        self._lengths, self._sizes, self._rows = map(tf.constant, (lengths, self.sizes, rows))

    def most_ids(self, source_lengths: Any, target_lengths: Any):
        return tf.gather(self._lengths, self.bucket(source_lengths, target_lengths))

    def rebalanced(self, limits: Any, source_lengths: Any, target_lengths: Any):
        return limits  # Rows that do not fit into the shapes are left out.

    def arrange(self, lengths: Sequence, usual: Any, respelled: Any, tie: Any):
        most = self.most_ids(*lengths)
        fit = [length <= most for length in row_lengths(respelled)]
        if self._together:
            fit = [tf.reduce_all(fit, axis=0)] * len(fit)
        rows = [_choose(*side) for side in zip(fit, respelled, usual, strict=True)]
        return rows, tf.argsort(tie - self.rank(*lengths), stable=True)

    def rank(self, source_lengths: Any, target_lengths: Any):
        return tf.cast(self.bucket(source_lengths, target_lengths), tf.int64) * 2**48

    def bucket(self, source_lengths: Any, target_lengths: Any):
        longer = tf.maximum(source_lengths, target_lengths)
        grown = tf.round(tf.cast(longer, tf.float64) * self._growth)
        return tf.searchsorted(self._lengths, tf.cast(grown, tf.int32))

    def shapes_of(self, counts: np.ndarray):
        return [shape for count, shape in zip(counts, self.shapes, strict=True) if count]

    def shape(self, bucket: Any):
        return self._rows[bucket], self._lengths[bucket]

    def shape_of_part(self, bucket: Any):
        return self._rows[bucket] // self.shares, self._lengths[bucket]

    def pad(self, sides: Sequence, padding_ids: Sequence[int], shape: Any = None) -> list:
        rows, length = shape
        missing = [[0, rows - tf.cast(sides[0].nrows(), tf.int32)], [0, 0]]
        return [
            tf.pad(side.to_tensor(id, shape=tf.stack([-1, length])), missing, constant_values=id)
            for side, id in zip(sides, padding_ids, strict=True)
        ]

    def part(self, element: Any):
        return tf.nest.map_structure(self._rows_of_process, element)

    def _rows_of_process(self, tensor):
        number = tf.shape(tensor)[0] // self.shares
        return tensor[self.share * number : (self.share + 1) * number]


def shapes_and_padding(form: Batching, counts: np.ndarray, tokens: float) -> tuple[int, float]:
    """Returns the number of shapes of batches, and the share of padding in their ids.

    Both are 0 unless the shapes are fixed.

    Args:
        counts: Numbers of batches by bucket (K,), as `Batching.counts` returns them.
    """
    if not isinstance(form, FixedShapes):
        return 0, 0.0
    ids = 2 * sum(
        count * math.prod(shape) for count, shape in zip(counts, form.shapes, strict=True)
    )
    return len(form.shapes_of(counts)), 1 - tokens / ids


def bucket_lengths(max_length: int) -> Iterator[int]:
    """Yields the lengths of the buckets: even numbers that grow by about an eighth."""
    length = 8
    while length < max_length:
        yield length
        length += max(2, length // 8 // 2 * 2)
    yield max_length


def fixed_lengths(max_length: int) -> Iterator[int]:
    """Yields the lengths of `FixedShapes`: multiples of 4, four between two powers of 2."""
    length = 8
    while length < max_length:
        yield length
        length += max(4, 2 ** (length.bit_length() - 3))
    yield math.ceil(max_length / 4) * 4


def row_lengths(sides: Sequence) -> list:
    """Returns the lengths of the rows of each side, int32 (N,)."""
    return [tf.cast(side.row_lengths(), tf.int32) for side in sides]


def _whole_eights(rows):
    return rows // 8 * 8 or max(1, rows)


def _longest(rows):
    return tf.cast(rows.bounding_shape(axis=1), tf.int32)


def _choose(condition, rows, otherwise):
    """Returns ragged `rows` where `condition`, bool (N,), holds, and `others` elsewhere."""
    number = tf.size(condition)
    place = tf.range(number) + tf.where(condition, 0, number)
    return tf.gather(tf.concat([rows, otherwise], axis=0), place)
