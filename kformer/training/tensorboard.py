"""Logs that TensorBoard shows."""

from pathlib import Path

import keras
import tensorflow as tf

_SCALAR = tf.compat.v1.SummaryMetadata(
    plugin_data={"plugin_name": "scalars"},
    data_class=1,  # DATA_CLASS_SCALAR
)


class TensorBoardLogs(keras.callbacks.Callback):
    """Writes the logs of every epoch for `tensorboard --logdir folder`.

    (Keras's `TensorBoard` needs the `tensorboard` package to write; this does not.)

    Args:
        folder: Of two folders, "train" and "validation".
    """

    def __init__(self, folder):
        super().__init__()
        self.folder = Path(folder)

    def on_epoch_end(self, epoch, logs=None):
        validation = {name for name in logs if name.startswith("val_")}
        rate = float(self.model.optimizer.learning_rate)
        self._write(
            "train",
            {name: logs[name] for name in {*logs} - validation} | {"learning_rate": rate},
            epoch,
        )
        self._write(
            "validation", {name.removeprefix("val_"): logs[name] for name in validation}, epoch
        )

    def _write(self, part, numbers, epoch):
        if numbers:
            writer = tf.summary.create_file_writer(str(self.folder / part))
            with writer.as_default(step=epoch + 1):
                for name, value in numbers.items():
                    tf.summary.write(f"epoch/{name}", tf.constant(value), metadata=_SCALAR)
            writer.close()
