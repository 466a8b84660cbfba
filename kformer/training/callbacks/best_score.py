"""The best score of all validations so far, on which callbacks base their decisions."""

import math

from kformer.arguments import check_choice
from kformer.training.callbacks.validation import ValidationCallback


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
        """Returns the state for a checkpoint; see `kformer.training.objective.stateful`."""
        return {"monitor": self.monitor, "best": self.best}

    def set_state(self, state: dict):
        """Restores the state of `get_state`; ignores one of another monitored score."""
        if state.get("monitor", self.monitor) == self.monitor:
            vars(self).update(state)
