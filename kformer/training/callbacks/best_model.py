"""The best score of all validations so far, and a callback that saves the best translator."""

import math
from pathlib import Path

from kformer.arguments import check_choice
from kformer.tasks.translator import Translator
from kformer.training.callbacks.translation_scores import ValidationCallback


class BestScore(ValidationCallback):
    """Base class of callbacks that compare a score with the best one so far.

    Args:
        monitor: Name of the score in the logs.
        mode: "min" if lower scores are better, "max" if higher ones are.
    """

    def __init__(self, monitor: str, mode: str):
        super().__init__()
        self.monitor = monitor
        self.mode = check_choice("mode", mode, ("min", "max"))
        self.best = math.inf if mode == "min" else -math.inf

    def is_best(self, score: float) -> bool:
        """Returns whether `score` is better than all earlier scores, and remembers it if so."""
        better = score < self.best if self.mode == "min" else score > self.best
        self.best = score if better else self.best
        return better

    def get_state(self) -> dict:
        """Returns the state for a checkpoint."""
        return {"monitor": self.monitor, "best": self.best}

    def set_state(self, state: dict):
        """Restores the state of `get_state`; ignores one of another monitored score."""
        if state.get("monitor", self.monitor) == self.monitor:
            self.__dict__.update(state)


class KeepBest(BestScore):
    """Saves the translator after each validation with a better score than all earlier ones.

    Args:
        translator: `kformer.Translator` of the model in training.
        path: The `.keras` file. It is replaced as a whole, so it is never incomplete.
        monitor: Name of the score in the logs. Without that score in the logs, every validation
            saves. (Avoid the perplexity: with label smoothing it rises while the translations
            still improve.)
        mode: "min" if lower scores are better, "max" if higher ones are.

    Attributes:
        epoch: Number of passes over the data of the saved translator; None before the first.
        scores: Its validation scores by name.

    Examples:
        >>> import kformer
        >>> from kformer.training import KeepBest
        >>> keep = KeepBest(kformer.load("runs/de-en/translator.keras"), "best.keras")
        >>> for epoch, loss in enumerate([2.0, 1.5, 1.7], start=1):
        ...     keep.on_validation(epoch, {"val_loss": loss})
        >>> keep.epoch, keep.scores
        (2, {'val_loss': 1.5})
    """

    def __init__(
        self,
        translator: Translator,
        path: str | Path,
        monitor: str = "val_loss",
        mode: str = "min",
    ):
        super().__init__(monitor, mode)
        self.translator = translator
        self.path = path
        self.epoch: float | None = None
        self.scores: dict[str, float] = {}

    def on_validation(self, epoch: float, logs: dict):
        """Saves the translator if its score is the best so far."""
        score = logs.get(self.monitor)
        if score is None or self.is_best(score):
            self.scores = {name: value for name, value in logs.items() if "val_" in name}
            self.translator.save(self.path, include_optimizer=False)
            self.epoch = epoch

    def get_state(self) -> dict:
        """Returns the state for a checkpoint."""
        return {**super().get_state(), "scores": self.scores, "epoch": self.epoch}

    def set_state(self, state: dict):
        """Restores the state of `get_state`.

        If another score was monitored then, new models compete with the saved translator's value
        of the score that is monitored now, if that value is known.
        """
        super().set_state(state)
        self.scores, self.epoch = state.get("scores", {}), state.get("epoch")
        self.best = self.scores.get(self.monitor, self.best)
