"""Writes the logs of all validations to a JSON file."""

from pathlib import Path

from kformer.backend import step_of
from kformer.files import write_json
from kformer.training.callbacks.validation import ValidationCallback


class KeepHistory(ValidationCallback):
    """Collects the logs of every validation, and rewrites a JSON file after each.

    Args:
        path: The JSON file: for each name in the logs, a list with one value per validation.
            "epoch" is the number of passes over the data, such as 1.25, and "step" the number of
            updates of the weights.

    Attributes:
        history: The file's content, as a dict.
    """

    def __init__(self, path: str | Path):
        super().__init__()
        self.path = path
        self.history = {}

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Appends a value to each list, and writes the file."""
        step = step_of(self.model)
        for name, value in {"epoch": epoch, "step": step, **(logs or {})}.items():
            self.history.setdefault(name, []).append(value)
        write_json(self.path, self.history)

    def get_state(self) -> dict:
        """Returns the history; see `kformer.training.objective.stateful`."""
        return self.history

    def set_state(self, state: dict):
        """Restores the state of `get_state`."""
        self.history = state
