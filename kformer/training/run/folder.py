"""The folder of a training run, and the record in it of what was run."""

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path

from kformer.files import check_file
from kformer.training.data.corpus_weights import check_weights
from kformer.training.run.changed_settings import CHANGEABLE, changed_settings

RECORD = "run.json"  # Written when a run starts and again when it ends.
TRANSLATOR = "translator.keras"
HISTORY = "history.json"
PICTURE = "history.png"
CHECKPOINTS = "checkpoints"  # What an unfinished run needs to go on.
TOKENIZER = "tokenizer.model"  # Among those.
TARGET_TOKENIZER = "target_tokenizer.model"  # The same, where the target has its own.
LOGS = "logs"  # Of TensorBoard.
MODELS = "models"  # The best, and the last one.
_FILES = (RECORD, TRANSLATOR, HISTORY, PICTURE)
_EVENTS = "events.out.tfevents.*"


@contextlib.contextmanager
def locked(folder):
    """Makes `folder`, if need be, and holds it for this process alone.

    The lock ends with the process, however that ends. A folder that is made and stays empty is
    removed again.

    Raises:
        BlockingIOError: Another process holds it.
    """
    folder = Path(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    if made:
        folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                "One process at a time may train in a folder. Received: "
                f"{str(folder)!r}, where one is at work."
            ) from error
        yield
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):  # Not empty.
            for path in made:
                path.rmdir()


def settings(
    recipe,
    files: dict[str, list[str]],
    weights=None,
    temperature=None,
    warm_start=None,
    new_vocabulary: bool = False,
    tokenizer=None,
    target_tokenizer=None,
) -> dict:
    """Returns what makes a run what it is, as `run.json` records it.

    Args:
        recipe: `Recipe`.
        files: Paths for each of "source", "target", "valid_source", "valid_target".
        weights, temperature, warm_start, new_vocabulary, tokenizer, target_tokenizer: See
            `kformer.training.train`.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The options contradict each other.
    """
    if new_vocabulary and warm_start is None:
        raise ValueError(
            "A new vocabulary is an option of a warm start; other runs have one in any case. "
            f"Received: {new_vocabulary=}, {warm_start=}."
        )
    if tokenizer is None and target_tokenizer is not None:
        raise ValueError(
            "A tokenizer of the target needs one of the source beside it. "
            f"Received: {tokenizer=}, target_tokenizer={str(target_tokenizer)!r}."
        )
    exists = tokenizer is not None or (warm_start is not None and not new_vocabulary)
    if exists and (new_vocabulary or recipe.target_vocab_size):
        raise ValueError(
            "Where a vocabulary exists already, none is learned. Received: tokenizer="
            f"{tokenizer and str(tokenizer)!r}, {new_vocabulary=}, "
            f"target_vocab_size={recipe.target_vocab_size}."
        )
    check_weights(len(files["source"]), weights, temperature)
    used = {"warm_start": warm_start, "tokenizer": tokenizer, "target_tokenizer": target_tokenizer}
    return {
        "recipe": dataclasses.asdict(recipe),
        "options": {
            "weights": None if weights is None else [float(weight) for weight in weights],
            "temperature": temperature,
            "new_vocabulary": new_vocabulary,
            **{name: None if path is None else sha256(path) for name, path in used.items()},
        },
        "files": {side: [str(Path(file).absolute()) for file in files[side]] for side in files},
        "sha256": {side: [sha256(file) for file in files[side]] for side in files},
    }


def sha256(file) -> str:
    """Returns the SHA-256 of what is in a file, in hexadecimal."""
    check_file(file)
    with Path(file).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_output(
    output, overwrite: bool, settings: dict | None = None, restart: bool = False
) -> bool:
    """Returns whether the folder `output` holds a run that can go on.

    That is an unfinished one of the same settings, but for those that may change (see
    `changed_settings`); or a finished one, where a change leaves something to train.

    Args:
        output: The folder of a run that is to be started, or to go on.
        overwrite: Whether to replace a finished run, or one of other settings.
        settings: Those of the run, see `settings`; None, if it is not to go on.
        restart: Whether to replace any run, also an unfinished one of the same settings.

    Raises:
        FileExistsError: The folder holds a finished run, one of other settings, or something else.
        FileNotFoundError: It holds an unfinished run that has lost its checkpoints.
        ValueError: It holds a record that is not one of a run.
    """
    output = Path(output)
    if not output.exists() or (output.is_dir() and not _content(output)):
        return False
    if not (output / RECORD).is_file():
        raise FileExistsError(
            "The output folder must be new or empty, or hold an earlier run. Received: "
            f"{str(output)!r}, which holds something else."
        )
    record = read_record(output)
    if restart:
        return False
    finished = record.get("finished", False)
    differs = settings and _difference(record, settings)
    if settings and not differs and not finished:
        check_can_go_on(output)
        return True
    if overwrite:
        return False
    if settings and not differs and _more_to_train(output, record, settings):
        return True
    if finished or not settings:
        differs = f"that is {'finished' if finished else 'unfinished'}"
    raise FileExistsError(
        "The output folder must be new or empty, or hold an unfinished run of the same settings, "
        "which then goes on, or --overwrite (`overwrite=True`) be given. "
        f"Received: {str(output)!r}, which holds a run {differs}."
    )


def _more_to_train(output, record, settings):
    """Returns whether a finished run goes on, since epochs or patience are more than they were.

    Raises:
        FileNotFoundError: It would, but for its checkpoints, which are gone.
    """
    from kformer.training.run.checkpoint import checkpoint_files, epochs_done  # Needs NumPy.

    if not {"epochs", "patience", "monitor"} & {*changed_settings(record, settings)}:
        return False
    files = checkpoint_files(Path(output) / CHECKPOINTS)
    if files:
        return epochs_done(files[-1]) < settings["recipe"]["epochs"]
    if settings["recipe"]["epochs"] <= record["recipe"]["epochs"]:
        return False
    raise FileNotFoundError(
        "A finished run goes on from its last checkpoint, and there is none: start another run "
        f"from its translator, with --warm-start. Received: {str(Path(output) / CHECKPOINTS)!r}."
    )


def check_can_go_on(output):
    """Raises FileNotFoundError where an unfinished run has kept something, but no checkpoint.

    Training would begin anew, and overwrite that. (A run that was killed before its first
    checkpoint has kept nothing.)
    """
    from kformer.training.run.checkpoint import checkpoint_files, damaged_files  # Needs NumPy.

    output = Path(output)
    kept = [output / name for name in (TRANSLATOR, HISTORY) if (output / name).exists()]
    kept += damaged_files(output / CHECKPOINTS)
    if kept and not checkpoint_files(output / CHECKPOINTS):
        raise FileNotFoundError(
            "A run goes on from its last whole checkpoint, and none is left: put one "
            f"back into {str(output / CHECKPOINTS)!r}; or move away what is to stay, and begin "
            "anew with --restart (`restart=True`). Received: "
            f"{str(output)!r}, which holds {', '.join(path.name for path in kept)}."
        )


def how_to_go_on(output, precision: str, error) -> str:
    """Says what to do after `Diverged`, an error of a run of that precision, and what is kept."""
    from kformer.training.run.checkpoint import checkpoint_files  # Needs NumPy.

    lower = "a lower --learning-rate-scale, a longer --warmup-steps"
    if precision != "float32":
        lower += ", --precision float32"
    files = checkpoint_files(Path(output) / CHECKPOINTS)
    kept = f", whose last checkpoint is {files[-1].name}" if files else ""
    translator = Path(output) / TRANSLATOR
    best = f" The best translator of before is {translator}." if translator.exists() else ""
    return (
        f"{error.rule} Run the command again with {lower}: it goes on with this run{kept}. "
        f"With --restart it begins anew.{best} Received: {error.received}."
    )


def _difference(record, settings):
    """Says in which settings that may not change the recorded run differs; None, if in none."""
    options = settings["options"]  # Where a record has none, there were none to have.
    recorded = {**record.get("recipe", {}), **record.get("options", options)}
    wanted = {**settings["recipe"], **options}
    differing = [
        f"{name}={recorded.get(name)!r} instead of {wanted.get(name)!r}"
        for name in {**recorded, **wanted}
        if name not in CHANGEABLE and recorded.get(name) != wanted.get(name)
    ]
    if record.get("sha256") != settings["sha256"]:
        sides = [
            side.replace("_", "-")
            for side in settings["sha256"]
            if record.get("sha256", {}).get(side) != settings["sha256"][side]
        ]
        differing.append(f"other text in --{' and --'.join(sides)}")
    return f"with {', '.join(differing)}" if differing else None


def _content(folder):
    """What is in `folder`, but for what a run leaves that is killed while it writes a file."""
    stems = {Path(name).stem for name in _FILES}
    return [
        path
        for path in folder.iterdir()
        if not (path.name.startswith(".") and path.name[1:].split("-")[0] in stems)
    ]


def clear(folder):
    """Deletes what an earlier run left in `folder`, and nothing else."""
    folder = Path(folder)
    for events in (folder / LOGS).rglob(_EVENTS):
        events.unlink()
    for pattern in ("*step-*.keras", "average.keras"):
        for model in (folder / MODELS).glob(pattern):
            model.unlink()
    with contextlib.suppress(OSError):  # Not there, or not empty.
        (folder / MODELS).rmdir()
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    for name in reversed(_FILES):  # The record last, for without it the folder is not a run's.
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder):
    """Deletes what a run left in `folder` that was killed while it wrote a file."""
    for path in {*Path(folder).iterdir()} - {*_content(Path(folder))}:
        path.unlink()


def read_record(folder) -> dict:
    """Returns what a run in `folder` recorded; nothing, if there is no record.

    Raises:
        ValueError: The record is not one of a run.
    """
    path = Path(folder) / RECORD
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text("utf-8"))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ValueError(f"The record of a run must be as `train` writes it. Received: {path}.")
    return record
