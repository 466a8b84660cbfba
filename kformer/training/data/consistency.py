"""Consistency training: two views of each example, for which a model should give equal answers.

Both views are rows of one batch, 2 i and 2 i + 1, so that one forward pass computes both, and the
loss compares their probabilities (`kformer.training.objective.expected`).

- R-Drop ([Liang et al., 2021](https://arxiv.org/abs/2106.14448)): the views are equal, but dropout
  makes the answers differ. Both take part in the cross entropy.
- SimCut ([Gao et al., 2022](https://arxiv.org/abs/2206.02368)): in the second view, random tokens
  of source and target input are cut off. Only the first view takes part in the cross entropy.

The paper of SimCut cuts a token off by a vector of zeros. Here it becomes the unknown id, whose
vector is learned, so that the network needs no other input than ids.

Axes: B batch, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from sentencepiece import sentencepiece_model_pb2

from kformer.training.recipes.recipe import SIMCUT


class TwoViews:
    """Repeats each example of a batch as two rows.

    Args:
        tokenizers: `kformer.Tokenizer` of each input of the network.
        kind: "simcut" or "rdrop".
        cutoff: For SimCut: share of the tokens to cut off, in [0, 1).
    """

    def __init__(self, tokenizers: Sequence[Any], kind: str, cutoff: float):
        self._is_left_out = tf.constant([0, int(kind == SIMCUT)])
        self._cutoff = cutoff if kind == SIMCUT else 0.0
        self._unknown = [tokenizer.unknown_id for tokenizer in tokenizers]
        self._can_be_cut = [tf.constant(_are_text(tokenizer)) for tokenizer in tokenizers]

    def __call__(self, element: tuple, seed: Any) -> tuple:
        """Returns a batch of two rows for each row of `element`.

        Args:
            element: (inputs, expected): int32 tensors (B, ...), of which `inputs` may be a tuple.
            seed: int64 tensor (2,); the same seed cuts the same tokens.
        """
        inputs, expected = element
        seeds = tf.unstack(tf.random.split(seed, len(self._unknown)))
        views = iter(zip(seeds, self._unknown, self._can_be_cut, strict=True))
        inputs = tf.nest.map_structure(lambda ids: self._views(ids, *next(views)), inputs)
        if len(expected.shape) < 3:  # Without teachers.
            expected = expected[..., tf.newaxis]
        expected = tf.repeat(expected, 2, axis=0)
        return inputs, tf.stack([expected, self._marks(expected)], axis=-1)

    def _marks(self, expected):
        """Returns 1 for values of views that take no part in the cross entropy, else 0."""
        marks = tf.tile(self._is_left_out, [tf.shape(expected)[0] // 2])
        marks = tf.reshape(marks, [-1, *[1] * (len(expected.shape) - 1)])
        return tf.broadcast_to(marks, tf.shape(expected))

    def _views(self, ids, seed, unknown, can_be_cut):
        if not self._cutoff:
            return tf.repeat(ids, 2, axis=0)
        chance = tf.random.stateless_uniform(tf.shape(ids), seed)
        is_cut = (chance < self._cutoff) & tf.gather(can_be_cut, ids)
        pairs = tf.stack([ids, tf.where(is_cut, unknown, ids)], axis=1)
        return tf.reshape(pairs, [-1, tf.shape(ids)[1]])


def _are_text(tokenizer):
    """Returns which ids are text, a list (V,) of bool: not those of padding, ends and symbols."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    kinds = model.SentencePiece.NORMAL, model.SentencePiece.BYTE
    return [piece.type in kinds for piece in model.pieces]


def shapes_of_views(shapes: list[tuple[int, int]], views: TwoViews | None) -> list[tuple[int, int]]:
    """Returns the shapes (rows, length) of batches, from their shapes before `views`."""
    return shapes if views is None else [(2 * rows, length) for rows, length in shapes]
