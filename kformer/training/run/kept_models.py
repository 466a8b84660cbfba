"""Saves the best models of a run and the last one in files, and averages them."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kformer.backend import step_of
from kformer.training.callbacks.translation_scores import ValidationCallback

AVERAGE = "average.keras"


class KeepModels(ValidationCallback):
    """Keeps the models of the best validations and of the last one, as "step-00004200.keras".

    Without the score in the logs, the last models are kept. A file is deleted only after the next
    checkpoint, because a killed run resumes from the previous one, where the model may be among the
    best.

    Args:
        model: `TextModel` of the network in training.
        folder: Folder for these files alone.
        number: Number of the best models; 0 to keep no models.
        monitor, mode: As for `KeepBest`.
    """

    def __init__(
        self, model: Any, folder: Path, number: int, monitor: str = "val_loss", mode: str = "min"
    ):
        super().__init__()
        self.saved = model
        self.folder = Path(folder)
        self.number = number
        self.monitor = monitor
        self.mode = mode
        self._kept: list[list] = []  # [step, scores], oldest first.

    def on_validation(self, epoch: float, logs: dict[str, Any]):
        """Saves the model, and deletes models that are no longer among the best."""
        if not self.number:
            return
        step = step_of(self.model)
        self.saved.save(self._path(step), include_optimizer=False)
        scores = {name: value for name, value in logs.items() if name.startswith("val_")}
        self._kept = [entry for entry in self._kept if entry[0] != step] + [[step, scores]]
        stay = {step, *self.best()}
        self._kept = [entry for entry in self._kept if entry[0] in stay]

    def on_checkpoint(self):
        """Deletes the forgotten models; called after each checkpoint."""
        stay = {self._path(step) for step, _ in self._kept}
        for path in {*model_files(self.folder)} - stay:
            path.unlink()

    def best(self) -> list[int]:
        """Returns the steps of the best models, the best first."""

        def rank(entry):
            step, scores = entry
            score = scores.get(self.monitor, math.nan)
            if math.isnan(score):  # After all others, the last one first.
                return math.inf, -step
            return score if self.mode == "min" else -score, step

        return [step for step, _ in sorted(self._kept, key=rank)[: self.number]]

    def score(self, path: Path) -> float:
        """Returns the score of the model at `path`; NaN if there is none."""
        scores = {self._path(step): scores for step, scores in self._kept}
        return scores[path].get(self.monitor, math.nan)

    def files(self, number: int) -> list[Path]:
        """Returns the paths of the `number` best models, without missing files."""
        paths = [self._path(step) for step in self.best()[:number]]
        return [path for path in paths if path.is_file()]

    def _path(self, step):
        return self.folder / f"step-{step:08}.keras"

    def get_state(self):
        """Returns the state for a checkpoint."""
        return self._kept

    def set_state(self, state: Any):
        """Restores the state of `get_state`."""
        self._kept = state


def model_files(folder: Path) -> list[Path]:
    """Returns the paths of the models in `folder`, with temporary files of killed processes."""
    folder = Path(folder)
    return [*folder.glob("step-*.keras"), *folder.glob(".step-*.keras")]


def average_of(paths: Sequence[Path], load: Callable) -> list[np.ndarray]:
    """Returns the mean of each weight of the networks at `paths`, which `load` reads; float32."""
    first, *rest = paths
    total = [weight.astype("float64") for weight in load(first).network.get_weights()]
    for path in rest:
        for part, weight in zip(total, load(path).network.get_weights(), strict=True):
            part += weight
    return [(weight / len(paths)).astype("float32") for weight in total]
