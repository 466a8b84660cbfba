"""Ends training when the loss or the weights are no longer finite."""

import math

import keras

from kformer.backend import step_of


class Diverged(FloatingPointError):
    """Training ended because the loss or the weights are no longer finite.

    Attributes:
        received: The value that is not finite, and the step.
    """

    rule = "The loss and the weights must stay finite."

    def __init__(self, model, received: str):
        self.received = f"{received} at step {step_of(model)}"
        super().__init__(
            f"{self.rule} A lower learning rate, a longer warm-up or float32 may help. "
            f"Received: {self.received}."
        )


class StopWhenDiverged(keras.callbacks.Callback):
    """Raises an error after the first batch whose loss is infinite or not a number.

    Raises:
        Diverged: The loss is not finite; the message names the step.
    """

    def on_train_batch_end(self, batch, logs=None):
        if not math.isfinite(logs["loss"]):  # A mean over the epoch, which never recovers.
            raise Diverged(self.model, f"loss={logs['loss']}")
