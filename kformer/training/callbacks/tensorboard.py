"""Writes the logs for TensorBoard."""

from pathlib import Path

import tensorflow as tf

from kformer.backend import step_of
from kformer.training.callbacks.validation import ValidationCallback

_SCALAR = tf.compat.v1.SummaryMetadata(
    plugin_data={"plugin_name": "scalars"},
    data_class=1,  # DATA_CLASS_SCALAR
)


class TensorBoardLogs(ValidationCallback):
    """Writes the logs of every epoch for `tensorboard --logdir folder`.

    (Keras's `TensorBoard` needs the `tensorboard` package to write; this does not.)

    Args:
        folder: Receives two folders, "train" and "validation".
        by_steps: Whether the horizontal axis shows steps instead of epochs, which is necessary
            with validations within an epoch.
    """

    def __init__(self, folder: str | Path, by_steps: bool = False):
        super().__init__()
        self.folder = Path(folder)
        self.by_steps = by_steps

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Writes the logs of a validation."""
        place = step_of(self.model) if self.by_steps else int(epoch)
        validation = {name for name in logs if name.startswith("val_")}
        rate = float(self.model.optimizer.learning_rate)
        self._write(
            "train",
            {name: logs[name] for name in {*logs} - validation} | {"learning_rate": rate},
            place,
        )
        self._write(
            "validation", {name.removeprefix("val_"): logs[name] for name in validation}, place
        )

    def _write(self, part, numbers, place):
        if numbers:
            writer = tf.summary.create_file_writer(str(self.folder / part))
            with writer.as_default(step=place):
                for name, value in numbers.items():
                    tf.summary.write(f"epoch/{name}", tf.constant(value), metadata=_SCALAR)
            writer.close()
