"""The loss: label-smoothed cross entropy over the real tokens.

Axes: B batch, T target length, K ids of the teachers, V vocabulary.
"""

import keras
from keras import ops

from kformer.arguments import check_number
from kformer.backend import replica_context
from kformer.training.objective.expected import expected
from kformer.training.objective.token_scores import token_scores

_TEACHERS = 0.5  # Share of the loss.


@keras.saving.register_keras_serializable(package="kformer")
class MaskedCrossEntropy(keras.losses.Loss):
    """Label-smoothed cross entropy: the sum over real tokens, divided by their number.

    Section 5.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). A student also learns
    how likely its teachers find other ids: half of its loss is the cross entropy with their
    probabilities, section 3.1 of [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947).

    Args:
        label_smoothing: Share of the probability that is spread over all ids, in [0, 1).
        padding_id: The expected id that does not count.

    Call arguments:
        y_true: integer tensor (B, T); or of a student (B, T, 1 + 2 K), see
            `kformer.training.objective.expected`.
        y_pred: float tensor (B, T, V), logits.
        sample_weight: float tensor (B,) or (B, T), what each token counts in the sum; or None.

    Returns:
        float32 scalar; 0 if there is no real token.
    """

    def __init__(
        self,
        label_smoothing: float = 0.1,
        padding_id: int = 0,
        name: str = "masked_cross_entropy",
        reduction="sum",
        dtype="float32",
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.label_smoothing = check_number("label_smoothing", label_smoothing, least=0, below=1)
        self.padding_id = padding_id

    def __call__(self, y_true, y_pred, sample_weight=None):
        # Keras would cast ids and logits, and `factors_of` finds nothing for cast logits.
        return self.call(y_true, y_pred, sample_weight)

    def call(self, y_true, y_pred, sample_weight=None):
        # With 1 - s on the true id and the share s spread evenly over all V, the cross entropy
        # is logsumexp(z) - (1 - s) z[id] - s mean(z): no tensor has to hold the distribution.
        scores = token_scores(y_true, y_pred, self.padding_id)
        share = self.label_smoothing
        losses = scores.log_normalizer - (1 - share) * scores.target_logit - share * scores.mean
        if scores.teacher_logit is not None:
            of_teachers = scores.log_normalizer - scores.teacher_logit
            losses = (1 - _TEACHERS) * losses + _TEACHERS * of_teachers
        if sample_weight is not None:
            losses = losses * _of_tokens(sample_weight, expected(y_true).ids, scores.place)
        return _mean(ops.sum(losses * scores.real), ops.sum(scores.real))

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "padding_id": self.padding_id,
        }


def _mean(total, count):
    """Returns `total` / `count`, summed over all replicas if there are several.

    Under a `tf.distribute` strategy, Keras expects a loss divided by the number of replicas, and
    adds the gradients of all replicas. So the value is the mean over all tokens of the batch,
    divided by that number; its gradient is that of this replica's part of the mean.
    """
    replicas = replica_context()
    if replicas is None:
        return total / ops.maximum(count, 1.0)
    share = total / ops.maximum(replicas.all_reduce("SUM", ops.stop_gradient(count)), 1.0)
    value = ops.stop_gradient(share)
    whole = replicas.all_reduce("SUM", value)
    return share - value + whole / replicas.num_replicas_in_sync


def _of_tokens(weights, ids, place):
    """Returns the weights of the tokens at `place` of `ids` (B, T), float32 (N,)."""
    weights = ops.cast(weights, "float32")
    if len(weights.shape) == 1:
        weights = weights[:, None]
    return ops.take(ops.reshape(ops.broadcast_to(weights, ops.shape(ids)), (-1,)), place)
