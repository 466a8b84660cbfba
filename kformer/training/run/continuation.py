"""Whether the output folder holds a run that can be resumed, and how to resume one."""

from pathlib import Path
from typing import TYPE_CHECKING

from kformer.kinds import MODEL_FILES
from kformer.training.recipes.recipe import Recipe, rate_option
from kformer.training.run.run_config import (
    changed_settings,
    difference,
    read_run_config,
)
from kformer.training.run.run_folder import CHECKPOINTS, HISTORY, RUN_CONFIG, content

if TYPE_CHECKING:  # Keras.
    from kformer.training.callbacks.stopping import Diverged


EXTENDING = ("epochs", "patience", "monitor")  # Settings that may extend a finished run.
HOURS_REACHED = "max_hours_reached"  # In the run config, of a run that its hours ended.


def check_output(
    output: str | Path, overwrite: bool, config: dict | None = None, restart: bool = False
) -> bool:
    """Returns whether the folder `output` holds a run that is to be resumed.

    It is resumed if it is unfinished and has the same settings, except for settings that may
    change; or if it is finished, and a changed setting leaves something to train.

    Args:
        overwrite: Whether to replace a finished run, or one of other settings.
        config: The run config; None for a run that is not to be resumed.
        restart: Whether to replace any run, even an unfinished one of the same settings.
    """
    output = Path(output)
    if not output.exists() or (output.is_dir() and not content(output)):
        return False
    if not (output / RUN_CONFIG).is_file():
        raise FileExistsError(
            "The output folder must be new or empty, or hold an earlier run. Received: "
            f"{str(output)!r}, which holds something else."
        )
    earlier = read_run_config(output)
    if restart:
        return False
    finished = earlier.get("finished", False)
    differs = config and difference(earlier, config)
    replacing = "--overwrite (`overwrite=True`) replaces other runs"
    if config and not differs and not finished:
        check_can_go_on(output)
        return True
    if overwrite:
        return False
    if config and not differs and _more_to_train(output, earlier, config):
        return True
    if config and not differs:
        replacing = (
            "more --epochs or more --patience continue a finished one, and --overwrite "
            "(`overwrite=True`) deletes it"
        )
    if finished or not config:
        differs = f"that is {'finished' if finished else 'unfinished'}"
    raise FileExistsError(
        "The output folder must be new or empty, or hold an unfinished run of the same settings, "
        f"which is then resumed; {replacing}. "
        f"Received: {str(output)!r}, which holds a run {differs}."
    )


def check_time_left(output: Path, earlier: dict, max_hours: float | None):
    """Raises FileExistsError for a run that its hours ended, if it has no more of them now.

    Args:
        earlier: Its run config.
    """
    reached = earlier.get(HOURS_REACHED)
    if reached is not None and max_hours is not None and max_hours <= reached:
        raise FileExistsError(
            "A run that its hours ended continues with a higher --max-hours (`max_hours`), or "
            f"without. Received: max_hours={max_hours}, for {str(output)!r}, which {reached} hours "
            "ended."
        )


def _more_to_train(output, earlier, config):
    """Returns whether more epochs or more patience extend a finished run."""
    from kformer.training.resumption.checkpoint import checkpoint_files, epochs_done  # NumPy.

    extending = {*EXTENDING} & {*changed_settings(earlier, config)}
    has_more_epochs = config["recipe"]["epochs"] > earlier["recipe"]["epochs"]
    if not extending or (extending == {"epochs"} and not has_more_epochs):
        return False
    files = checkpoint_files(Path(output) / CHECKPOINTS)
    if files:
        return epochs_done(files[-1]) < config["recipe"]["epochs"]
    if not has_more_epochs:
        return False
    raise FileNotFoundError(
        "A finished run is extended from its last checkpoint, and there is none: start another run "
        f"from its model, with --warm-start. Received: {str(Path(output) / CHECKPOINTS)!r}."
    )


def check_can_go_on(output: Path):
    """Raises FileNotFoundError for an unfinished run that has results but no checkpoint.

    Training would start again and overwrite the results. (A run that was killed before its first
    checkpoint has none.)
    """
    from kformer.training.resumption.checkpoint import checkpoint_files, damaged_files  # NumPy.

    kept = [output / name for name in (*MODEL_FILES, HISTORY) if (output / name).exists()]
    kept += damaged_files(output / CHECKPOINTS)
    if kept and not checkpoint_files(output / CHECKPOINTS):
        raise FileNotFoundError(
            "A run is resumed from its last complete checkpoint, and none is left: put one "
            f"back into {str(output / CHECKPOINTS)!r}; or move away the files to keep, and start "
            "again with --restart (`restart=True`). Received: "
            f"{str(output)!r}, which holds {', '.join(path.name for path in kept)}."
        )


def out_of_time_in_words(epoch: float, epochs: int) -> str:
    """Says how to continue a run that its hours ended, after `epoch` of `epochs`."""
    return (
        f"The time was over after epoch {epoch:.4g} of {epochs}: the same command with a higher "
        "--max-hours, or without, continues this run."
    )


def how_to_go_on(output: Path, recipe: Recipe, error: "Diverged") -> str:
    """Returns a message after `error`: the kept files, and the next command."""
    from kformer.training.resumption.checkpoint import checkpoint_files  # NumPy.

    lower = f"a lower {rate_option(recipe)}, a longer --warmup-steps"
    if recipe.precision != "float32":
        lower += ", --precision float32"
    files = checkpoint_files(output / CHECKPOINTS)
    kept = f", whose last checkpoint is {files[-1].name}" if files else ""
    [*models] = (output / name for name in MODEL_FILES if (output / name).exists())
    best = f" The best model so far is {models[0]}." if models else ""
    return (
        f"{error.rule} Run the command again with {lower}: it resumes this run{kept}. "
        f"With --restart it starts again.{best} Received: {error.received}."
    )
