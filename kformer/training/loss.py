"""The loss: how surprised the model is by each real token.

Axes: B batch, T target length, V vocabulary.
"""

import keras
from keras import ops


def token_cross_entropy(ids, logits, label_smoothing: float = 0.0):
    """Returns the cross entropy of each token, float32 (B, T).

    With 1 - label_smoothing on the true id and the rest spread evenly over all V, that is
    logsumexp(z) - (1 - label_smoothing) z[id] - label_smoothing mean(z) for the logits z: no
    tensor has to hold the distribution.

    Args:
        ids: integer tensor (B, T).
        logits: float tensor (B, T, V).
        label_smoothing: Share that is spread; 0 gives minus the log-probability of each id.
    """
    logits = ops.cast(logits, "float32")
    ids = ops.cast(ids, "int32")
    chosen = ops.take_along_axis(logits, ids[..., None], axis=-1)[..., 0]
    losses = ops.logsumexp(logits, axis=-1) - (1 - label_smoothing) * chosen
    return losses - label_smoothing * ops.mean(logits, axis=-1) if label_smoothing else losses


@keras.saving.register_keras_serializable(package="kformer")
class MaskedCrossEntropy(keras.losses.Loss):
    """Label-smoothed cross entropy: the sum over real tokens, divided by their number.

    Section 5.4 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        label_smoothing: Share that is spread, in [0, 1).
        padding_id: The expected id that does not count.

    Call arguments:
        y_true: integer tensor (B, T).
        y_pred: float tensor (B, T, V), logits.

    Returns:
        float32 scalar; 0 if there is no real token.
    """

    def __init__(
        self,
        label_smoothing: float = 0.1,
        padding_id: int = 0,
        name: str = "masked_cross_entropy",
        reduction="sum",
        dtype="float32",  # Keras casts the ids to it, whatever `floatx` is.
    ):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        if not 0 <= label_smoothing < 1:
            raise ValueError(
                f"`label_smoothing` must be in [0, 1). Received: label_smoothing={label_smoothing}."
            )
        self.label_smoothing = label_smoothing
        self.padding_id = padding_id

    def call(self, y_true, y_pred):
        losses = token_cross_entropy(y_true, y_pred, self.label_smoothing)
        real = ops.cast(ops.not_equal(y_true, self.padding_id), losses.dtype)
        return ops.sum(losses * real) / ops.maximum(ops.sum(real), 1.0)

    def get_config(self):
        return {
            **super().get_config(),
            "label_smoothing": self.label_smoothing,
            "padding_id": self.padding_id,
        }
