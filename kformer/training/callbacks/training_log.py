"""Callbacks for the logs of all validations: a JSON file, TensorBoard, tokens per second."""

import math
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

from kformer.backend import step_of
from kformer.files import write_json
from kformer.training.callbacks.translation_scores import ValidationCallback


class KeepHistory(ValidationCallback):
    """Collects the logs of every validation, and rewrites a JSON file after each.

    Args:
        path: The JSON file: for each name in the logs, a list with one value per validation.
            "epoch" is the number of passes over the data, such as 1.25, and "step" the number of
            updates of the weights. Metrics of training are null in epoch 0, which is before it.

    Attributes:
        history: The file's content, as a dict.

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import KeepHistory
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse", jit_compile=False)
        >>> keep = KeepHistory("history.json")
        >>> _ = model.fit(np.ones((8, 1)), np.ones((8, 1)), epochs=3, verbose=0, callbacks=[keep])
        >>> keep.history["epoch"], sorted(keep.history)
        ([1, 2, 3], ['epoch', 'loss', 'step'])
    """

    def __init__(self, path: str | Path):
        super().__init__()
        self.path = path
        self.history: dict[str, list] = {}

    def on_validation(self, epoch: float, logs: dict):
        """Appends a value to each list, and writes the file."""
        step = step_of(self.model)
        for name, value in {"epoch": epoch, "step": step, **logs}.items():
            missing = math.isnan(value) and not name.startswith("val_")
            self.history.setdefault(name, []).append(None if missing else value)
        write_json(self.path, self.history)

    def get_state(self) -> dict:
        """Returns the history, which checkpoints keep."""
        return self.history

    def set_state(self, state: dict):
        """Restores the state of `get_state`."""
        self.history = state


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

    Examples:
        >>> from pathlib import Path
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import TensorBoardLogs
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse", jit_compile=False)
        >>> data = np.ones((8, 1)), np.ones((8, 1))
        >>> logs = TensorBoardLogs("logs")
        >>> _ = model.fit(*data, validation_data=data, verbose=0, callbacks=[logs])
        >>> sorted(path.name for path in Path("logs").iterdir())
        ['train', 'validation']
    """

    def __init__(self, folder: str | Path, by_steps: bool = False):
        super().__init__()
        self.folder = Path(folder)
        self.by_steps = by_steps

    def on_validation(self, epoch: float, logs: dict):
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


class TokensPerSecond(ValidationCallback):
    """Adds `tokens/s` to the logs: real target tokens of training per second of wall time.

    The mean is taken since the beginning of the epoch, or since the last validation within it.

    The model must be compiled with the metric `kformer.training.Tokens`, whose counts this
    replaces in the logs.

    Args:
        counted: Name of that metric, if it counts something else, as "texts".

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> from kformer.training import MaskedCrossEntropy, Tokens, TokensPerSecond
        >>> model = kformer.Transformer(10, num_layers=1, d_model=8, num_heads=2, d_ff=8)
        >>> model.compile("adam", MaskedCrossEntropy(), metrics=[Tokens()], jit_compile=False)
        >>> pair, answer = (np.array([[5, 6, 3]]), np.array([[2, 7, 8]])), np.array([[7, 8, 3]])
        >>> history = model.fit(pair, answer, verbose=0, callbacks=[TokensPerSecond()]).history
        >>> history["tokens/s"][0] > 0
        True
    """

    def __init__(self, counted: str = "tokens") -> None:
        super().__init__()
        self.counted = counted
        self._before = 0.0  # Seconds that earlier processes spent on the epoch.
        self._start: float | None = None  # None between a validation and the next batch.

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        self._start = time.perf_counter() - self._before
        self._before, self._speed = 0.0, math.nan

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None):
        if self._start is None:  # After a validation within the epoch.
            self._start = time.perf_counter()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any]):
        assert self._start is not None  # Keras has called `on_train_batch_begin`.
        if self.counted not in logs:
            raise ValueError(
                "Compile the model with the metric `kformer.training.Tokens()`, so that tokens "
                f"can be counted. Received: metrics {sorted(logs)}."
            )
        self._speed = logs.pop(self.counted) / (time.perf_counter() - self._start)
        logs[f"{self.counted}/s"] = self._speed

    def on_validation(self, epoch: float, logs: dict):
        """Adds the speed since the previous validation to the logs."""
        logs.pop(self.counted, None)
        logs.pop(f"val_{self.counted}", None)
        logs[f"{self.counted}/s"] = self._speed
        self._start = None

    def get_state(self) -> float:
        """Returns the seconds since the epoch began, which checkpoints keep."""
        return 0.0 if self._start is None else time.perf_counter() - self._start

    def set_state(self, state: float):
        """Restores the state of `get_state`: the next epoch began that many seconds ago."""
        self._before = state
