"""Chooses the model of a run: the best one, or an average of the best ones."""

import math
import shutil
import sys
from typing import Any

from kformer.files import replacing
from kformer.training.callbacks.best_model import KeepBest
from kformer.training.callbacks.stopping import StopWithoutImprovement
from kformer.training.callbacks.weight_average import WithAverage
from kformer.training.parallel.meetings import SameScores
from kformer.training.recipes.recipe import MONITORS
from kformer.training.run.kept_models import AVERAGE, KeepModels, average_of
from kformer.training.run.run_folder import MODELS
from kformer.training.run.run_preparation import Prepared


class Choice:
    """The callbacks that compare the models of a run, and the choice at its end.

    Args:
        prepared: `Prepared`.
        learner: `Learner`.

    Attributes:
        callbacks: Callbacks for `fit`. They use the averaged weights, if there are any.
    """

    def __init__(self, prepared: Prepared, learner: Any):
        self._recipe, self._output = recipe, output = prepared.recipe, prepared.output
        self._model, self._data, self._scores = learner.model, learner.validation, learner.scores
        if self._scores:
            self._scores = [*self._scores, SameScores()]
        self._file = output / prepared.task.kind.file
        self._load = prepared.task.load
        self._is_trained = prepared.is_trained
        self._score, self._mode = by = MONITORS[recipe.monitor]
        kept = max(recipe.keep_best, recipe.average)
        self._models = KeepModels(self._model, output / MODELS, kept, *by)
        self._best = KeepBest(self._model, self._file, *by)
        callbacks = [*self._scores, self._best, self._models]
        if self._data is not None:  # Always: the patience may change when the run is resumed.
            callbacks.append(StopWithoutImprovement(recipe.patience or sys.maxsize, *by))
        self.callbacks = [WithAverage(callbacks)] if recipe.ema_momentum else callbacks

    def is_best(self, epoch: float) -> bool:
        """Returns whether the best model so far is that after so many epochs."""
        return self._best.epoch == epoch

    @property
    def scores(self) -> dict[str, float]:
        """The validation scores of the best model so far, by name."""
        return self._best.scores

    def in_words(self, history: dict[str, list]) -> str:
        """Returns a sentence on the best epoch and its score, if there is validation text."""
        score = self._best.scores.get(self._score)
        if score is None or self._best.epoch is None:
            last = "Without validation text, the last model is kept"
            return (
                f"{last}, be it better than the start or not." if self._is_trained else f"{last}."
            )
        if self._best.epoch == 0:
            return (
                "No epoch was better than the start, so the model keeps the weights that it "
                f"started with: {self._score} {score:.4g}."
            )
        best = f"The best epoch is {self._best.epoch:.4g}, with {self._score} {score:.4g}"
        if 0 not in history["epoch"]:
            return f"{best}."
        return f"{best}; the start has {history[self._score][history['epoch'].index(0)]:.4g}."

    def average(self) -> dict | None:
        """Averages the best models; the average becomes the model of the run if it is better.

        It is saved as "average.keras" in any case. Without validation text it counts as better.
        The weights of the model in training are replaced.

        Returns:
            The entry for the run config; None if the recipe has no average or there are fewer than
            two models.
        """
        files = self._models.files(self._recipe.average)
        if len(files) < 2:
            return None
        self._model.network.set_weights(average_of(files, self._load))
        score, before = self._validate(), self._models.score(files[0])
        better = score is None or (score < before if self._mode == "min" else score > before)
        average = self._output / MODELS / AVERAGE
        self._model.save(average, include_optimizer=False)
        with replacing(self._file) as temporary:
            shutil.copyfile(average if better else files[0], temporary)
        names = [path.name for path in files]
        scores = {} if score is None else {self._score: score, "best": before}
        return {"models": names, **scores, "better": better}

    def _validate(self):
        """Returns the current score of the model; None without validation text."""
        if self._data is None:
            return None
        scores = self._model.network.evaluate(self._data, verbose=0, return_dict=True)
        logs = {f"val_{name}": value for name, value in scores.items()}
        for callback in self._scores:
            callback.on_validation(0, logs)
        return logs[self._score] if math.isfinite(logs[self._score]) else math.nan


def in_words(average: dict, file: str) -> str:
    """Describes the result of `Choice.average` in a sentence; `file` is the model's."""
    number, better = len(average["models"]), average["better"]
    chosen = f"{file} is {'the average' if better else 'the best of them'}"
    scores = [name for name in average if name.startswith("val_")]
    compared = "".join(
        f": {name} {average[name]:.4g}, of the best alone {average['best']:.4g}" for name in scores
    )
    return f"The average of the {number} best models{compared}; {chosen}."
