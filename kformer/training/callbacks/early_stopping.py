"""Early stopping: ends training when the validation score no longer improves."""

from kformer.arguments import check_integer
from kformer.training.callbacks.best_score import BestScore


class StopWithoutImprovement(BestScore):
    """Ends training after `patience` validations in a row without a new best score.

    Unlike `keras.callbacks.EarlyStopping`, it counts validations within an epoch, too (see
    `ValidateEvery`), and `resumable_fit` saves and restores its state.

    Args:
        patience: Number of validations, at least 1.
        monitor: Name of the score; it must be in the logs.
        mode: "min" if lower scores are better, "max" if higher ones are.
    """

    def __init__(self, patience: int, monitor: str = "val_loss", mode: str = "min"):
        super().__init__(monitor, mode)
        self.patience = check_integer("patience", patience, least=1)
        self.waited = 0  # Validations since the best one.

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Stops training if the last `patience` validations brought no improvement."""
        if self.monitor not in (logs or {}):
            raise ValueError(
                "The logs must contain the monitored score; validation scores need validation "
                f"data. Received: monitor={self.monitor!r}, logs of {sorted(logs or {})}."
            )
        self.waited = 0 if self.is_best(logs[self.monitor]) else self.waited + 1
        if self.waited >= self.patience:
            self.model.stop_training = True

    def get_state(self) -> dict:
        """Returns the state for a checkpoint; see `kformer.training.objective.stateful`."""
        return {**super().get_state(), "waited": self.waited}
