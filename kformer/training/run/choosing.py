"""Chooses the translator of a run: the best model, or an average of the best ones."""

import math
import shutil
import sys

from kformer.files import replacing
from kformer.training.callbacks.best_model import KeepBest
from kformer.training.callbacks.early_stopping import StopWithoutImprovement
from kformer.training.callbacks.translation_scores import TranslationScores
from kformer.training.objective.average import WithAverage
from kformer.training.run.folder import MODELS, TRANSLATOR
from kformer.training.run.kept_models import AVERAGE, KeepModels, average_of

SCORES = {"loss": ("val_loss", "min"), "bleu": ("val_bleu", "max")}  # By the recipe's `monitor`.


class Choice:
    """The callbacks that compare the models of a run, and the choice at its end.

    Args:
        recipe: `Recipe`.
        translator: `Translator` of the model in training.
        output: The folder of the run.
        data: `tf.data.Dataset` of the validation text, or None.
        lines: Function that returns the lines of the validation text: a list of sources, and one
            of targets.

    Attributes:
        callbacks: Callbacks for `fit`. They use the averaged weights, if there are any.
    """

    def __init__(self, recipe, translator, output, data, lines):
        self._recipe = recipe
        self._translator = translator
        self._output = output
        self._data = data
        self._score, self._mode = SCORES[recipe.monitor]
        by = self._score, self._mode
        kept = max(recipe.keep_best, recipe.average)
        self._models = KeepModels(translator, output / MODELS, kept, *by)
        self._bleu = None
        callbacks = [KeepBest(translator, output / TRANSLATOR, *by), self._models]
        if recipe.monitor == "bleu":
            self._bleu = TranslationScores(translator, *lines())
            callbacks.insert(0, self._bleu)
        if data is not None:  # Always, because the patience may change when the run is resumed.
            callbacks.append(StopWithoutImprovement(recipe.patience or sys.maxsize, *by))
        self.callbacks = [WithAverage(callbacks)] if recipe.ema_momentum else callbacks

    def average(self) -> dict | None:
        """Averages the best models; the average becomes the translator if it is better.

        It is saved as "average.keras" in any case. Without validation text it counts as better.
        The weights of the model in training are replaced.

        Returns:
            The entry for the run config; None if the recipe has no average or there are fewer than
            two models.
        """
        files = self._models.files(self._recipe.average)
        if len(files) < 2:
            return None
        self._translator.transformer.set_weights(average_of(files))
        score, before = self._validate(), self._models.score(files[0])
        better = score is None or (score < before if self._mode == "min" else score > before)
        average = self._output / MODELS / AVERAGE
        self._translator.save(average)
        with replacing(self._output / TRANSLATOR) as temporary:
            shutil.copyfile(average if better else files[0], temporary)
        names = [path.name for path in files]
        scores = {} if score is None else {self._score: score, "best": before}
        return {"models": names, **scores, "better": better}

    def _validate(self):
        """Returns the current score of the model; None without validation text."""
        if self._data is None:
            return None
        scores = self._translator.transformer.evaluate(self._data, verbose=0, return_dict=True)
        logs = {f"val_{name}": value for name, value in scores.items()}
        if self._bleu:
            self._bleu.on_validation(0, logs)
        return logs[self._score] if math.isfinite(logs[self._score]) else math.nan


def in_words(average: dict) -> str:
    """Describes the result of `Choice.average` in a sentence."""
    number, better = len(average["models"]), average["better"]
    chosen = f"{TRANSLATOR} is {'the average' if better else 'the best of them'}"
    scores = [name for name in average if name.startswith("val_")]
    compared = "".join(
        f": {name} {average[name]:.4g}, of the best alone {average['best']:.4g}" for name in scores
    )
    return f"The average of the {number} best models{compared}; {chosen}."
