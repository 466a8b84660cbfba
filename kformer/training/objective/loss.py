"""The loss: label-smoothed cross entropy over the real tokens, and the consistency of two views.

Axes: B batch, T target length, K ids of the teachers, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kformer.arguments import check_choice, check_integer, check_number
from kformer.backend import replica_context
from kformer.training.objective.expected import checked_ids, expected, weights_of_tokens
from kformer.training.objective.token_scores import token_scores

_TEACHERS = 0.5  # Share of the loss.
_REDUCTIONS = ("sum_over_batch_size", "none")


@keras.saving.register_keras_serializable(package="kformer")
class MaskedCrossEntropy(keras.losses.Loss):
    """Label-smoothed cross entropy: the sum over real tokens, divided by their number.

    Section 5.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). A student also learns
    how likely its teachers find other ids: half of its loss is the cross entropy with their
    probabilities, section 3.1 of [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947).

    With two views of each example, as `kformer.training.data.consistency` makes them, the loss also
    has the divergence of their probabilities: the mean over tokens of (KL(p || q) + KL(q || p)) / 2
    ([Liang et al., 2021](https://arxiv.org/abs/2106.14448);
    [Gao et al., 2022](https://arxiv.org/abs/2206.02368)).

    Args:
        label_smoothing: Share of the probability that is spread over all ids, in [0, 1).
        padding_id: The expected id that does not count.
        reduction: "sum_over_batch_size", as above, or "none", for the cross entropy of each token,
            0 where it is padding.
        consistency_weight: Weight of the divergence, if there are two views of each example.
        ignored_ids: More expected ids that do not count, such as the `forbidden_ids` of a
            `kformer.Transformer`.

    Call arguments:
        y_true: integer tensor (B, T) or (B, T, 1), ids; for a student (B, T, 1 + 2 K), as
            `kformer.training.objective.expected` describes; for a classifier (B,) or (B, 1),
            labels. With two views of each example, a last axis of size 2 more.
        y_pred: float tensor (B, T, V), logits; for a classifier (B, V).
        sample_weight: float tensor (B,) or (B, T), weights of tokens in the sum; or None.

    Returns:
        float32 scalar; 0 if there is no real token. Without a reduction float32 (B, T), of a
        classifier (B,).

    Raises:
        ValueError: A shape is another; or an expected id is out of range, such as -100, by which
            other libraries mark padding. In a TensorFlow graph, such an id raises an
            `InvalidArgumentError`; in a compiled one, as on JAX, the loss becomes NaN.

    Examples:
        >>> import numpy as np
        >>> from kformer.training import MaskedCrossEntropy
        >>> answer = np.array([[7, 3, 0]])  # 0 is padding, which does not count.
        >>> logits = np.zeros((1, 3, 10), "float32")  # Every id is as likely as any other.
        >>> round(float(MaskedCrossEntropy()(answer, logits)), 3)  # log(10)
        2.303
    """

    def __init__(
        self,
        label_smoothing: float = 0.1,
        padding_id: int = 0,
        name: str = "masked_cross_entropy",
        reduction: str = "sum_over_batch_size",
        dtype: str = "float32",
        consistency_weight: float = 3.0,
        ignored_ids: Sequence[int] = (),
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        check_choice("reduction", reduction, (*_REDUCTIONS, None))
        self.label_smoothing = check_number("label_smoothing", label_smoothing, least=0, below=1)
        self.padding_id = check_integer("padding_id", padding_id)
        self.consistency_weight = check_number("consistency_weight", consistency_weight, least=0)
        self.ignored_ids = checked_ids(ignored_ids)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None):
        # Keras would cast ids and logits, and `factors_of` finds nothing for cast logits.
        return self.call(y_true, y_pred, sample_weight)

    def call(self, y_true: Any, y_pred: Any, sample_weight: Any = None):
        # With 1 - s on the true id and the share s spread evenly over all V, the cross entropy
        # is logsumexp(z) - (1 - s) z[id] - s mean(z): no tensor has to hold the distribution.
        scores = token_scores(y_true, y_pred, self.padding_id, self.ignored_ids)
        share = self.label_smoothing
        losses = scores.log_normalizer - (1 - share) * scores.target_logit - share * scores.mean
        if scores.teacher_logit is not None:
            teacher_losses = scores.log_normalizer - scores.teacher_logit
            losses = (1 - _TEACHERS) * losses + _TEACHERS * teacher_losses
        ids = expected(y_true, y_pred, self.padding_id, self.ignored_ids).ids
        if sample_weight is not None:
            losses = losses * weights_of_tokens(sample_weight, ids, scores.place)
        losses = losses * scores.real
        if self.reduction in ("none", None):
            every = ops.scatter(scores.place[:, None], losses, (ops.size(ids),))
            return ops.reshape(every, ops.shape(ids))
        loss = _mean(ops.sum(losses), ops.sum(scores.real))
        if scores.divergence is None:
            return loss
        divergence = ops.sum(scores.divergence * scores.compared)
        return loss + self.consistency_weight * _mean(divergence, ops.sum(scores.compared))

    def count_tokens(self, y_true: Any, y_pred: Any):
        """Returns the number of real tokens of a batch, by which its loss counts among batches.

        Args:
            y_true, y_pred: As for a call.

        Returns:
            float32 scalar. Tokens of two views count twice if both take part in the cross entropy.
        """
        return ops.sum(expected(y_true, y_pred, self.padding_id, self.ignored_ids).real)

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        # Before 0.2, the mean was called "sum".
        is_mean = config.get("reduction") == "sum"
        return super().from_config(config | ({"reduction": _REDUCTIONS[0]} if is_mean else {}))

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "padding_id": self.padding_id,
            "consistency_weight": self.consistency_weight,
            "ignored_ids": [*self.ignored_ids],
        }


def _mean(total, count):
    """Returns `total` / `count`, summed over all replicas if there are several.

    Under a `tf.distribute` strategy, Keras expects a loss divided by the number of replicas, and
    adds the gradients of all replicas. So the value is the mean over all tokens of the batch,
    divided by that number; its gradient is the gradient of this replica's part of the mean.
    """
    replicas = replica_context()
    if replicas is None:
        return total / ops.maximum(count, 1.0)
    share = total / ops.maximum(replicas.all_reduce("SUM", ops.stop_gradient(count)), 1.0)
    value = ops.stop_gradient(share)
    whole = replicas.all_reduce("SUM", value)
    return share - value + whole / replicas.num_replicas_in_sync
