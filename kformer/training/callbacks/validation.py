"""The callback's view of a validation: at the end of an epoch, or within one."""

import keras


class ValidationCallback(keras.callbacks.Callback):
    """Base class of callbacks that act after each validation, in `on_validation`.

    `fit` validates at the end of each epoch, `kformer.training.run.validation.ValidateEvery` also
    within one.
    """

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Called after each validation.

        Args:
            epoch: Number of passes over the data so far, such as 1.25.
            logs: Names and values of the metrics; those of validation begin with "val_".
        """
        raise NotImplementedError

    def on_epoch_end(self, epoch, logs=None):
        self.on_validation(epoch + 1, logs)
