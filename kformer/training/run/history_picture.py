"""Draws the learning curves of a run, without TensorFlow."""

from pathlib import Path

import numpy as np

from kformer import plot
from kformer.json_files import read_json
from kformer.training.recipes.recipe import MONITORS
from kformer.training.run.run_config import read_run_config
from kformer.training.run.run_folder import HISTORY


def draw_history(history: dict, monitor: str, path: Path):
    """Draws the learning curves, and marks the epoch of the best model."""
    score, mode = MONITORS[monitor]
    best, values = None, history.get(score)
    if values:
        values = np.array(values) * (1 if mode == "min" else -1)
        best = int(np.nanargmin(values)) + 1
    plot.save_figure(plot.plot_history(history, best), path)


def read_history(folder: Path) -> tuple[dict, str]:
    """Reads the history of a run, which may still be going on, and its `monitor`."""
    path = Path(folder) / HISTORY
    if not path.is_file():
        raise FileNotFoundError(
            f"The folder of a run has a {HISTORY}. Received: {str(folder)!r}, without one."
        )
    rule = "A run's history and its config must be as `train` writes them."
    history = read_json(path, dict[str, list], rule=rule)
    monitor = read_run_config(folder).get("recipe", {}).get("monitor")
    if monitor not in MONITORS:
        raise ValueError(f"{rule} Received: {str(folder)!r}, with monitor={monitor!r:.99}.")
    return history, monitor
