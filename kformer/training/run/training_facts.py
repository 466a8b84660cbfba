"""Facts about a finished run for the model cards of its exports: text, recipe, best scores."""

from pathlib import Path
from typing import Any

from kformer.training.recipes.recipe import MONITORS
from kformer.training.run.history_picture import read_history
from kformer.training.run.run_config import read_run_config


def training_facts(folder: str | Path) -> dict[str, Any] | None:
    """Returns the facts about the run in a folder, as `kformer.export.model_card` reads them.

    Files are named without their folders. Sizes are left out of files that are gone.

    Returns:
        dict for JSON, or None if the folder has no run config with a recipe.

    Raises:
        ValueError: A file in the folder is damaged.
    """
    folder = Path(folder)
    config = read_run_config(folder)
    if "recipe" not in config:
        return None
    checksums = config.get("sha256", {})
    facts = {
        "files": {
            side: [
                _file(Path(path), checksum)
                for path, checksum in zip(paths, checksums.get(side, ()), strict=False)
            ]
            for side, paths in config.get("files", {}).items()
            if paths
        },
        "pairs": config.get("pairs"),
        "recipe": config["recipe"],
        "best": best_scores(folder),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _file(path, checksum):
    size = {"bytes": path.stat().st_size} if path.is_file() else {}
    return {"name": path.name, **size, "sha256": checksum}


def best_scores(folder: Path) -> dict[str, Any] | None:
    """Returns the epoch whose model a run keeps, and its scores on the validation text.

    Returns:
        dict with "epoch", then the score that chooses the model, then the other scores, by their
        names in the history; None if the run was never validated.
    """
    try:
        history, monitor = read_history(folder)
    except FileNotFoundError:
        return None
    name, mode = MONITORS[monitor]
    values = [(value, i) for i, value in enumerate(history.get(name, [])) if value == value]
    if not values:
        return None
    sign = 1 if mode == "min" else -1
    best, at = min(values, key=lambda value: sign * value[0])  # The first of several.
    scores = {name: best}
    for score in sorted(history):
        if score.startswith("val_"):
            scores.setdefault(score, history[score][at])
    return {"epoch": history["epoch"][at], **scores}
