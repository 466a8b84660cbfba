"""The folder of a training run: its files, its lock, and what is deleted from it."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from kformer.tasks.run_file import MODEL_FILES
from kformer.training.parallel.team import team
from kformer.training.run.folder_copy import receive_files, send_files

RUN_CONFIG = "run.json"  # Written when a run starts, resumes and ends.
HISTORY = "history.json"
PICTURE = "history.png"
CHECKPOINTS = "checkpoints"  # All that is needed to resume an unfinished run.
COMPILED = f"{CHECKPOINTS}/compiled"  # What XLA compiled, on JAX.
TOKENIZER = "tokenizer.model"  # In the folder of the checkpoints.
TARGET_TOKENIZER = "target_tokenizer.model"  # The same, if the target has its own.
LOGS = "logs"  # Logs for TensorBoard.
MODELS = "models"  # The best models, and the last one.
_FILES = (RUN_CONFIG, *MODEL_FILES, HISTORY, PICTURE)
_EVENTS = "events.out.tfevents.*"


@contextlib.contextmanager
def locked(folder: str | Path):
    """Creates `folder` if it is missing, and locks it for this process.

    The lock ends with the process, even if that is killed. A folder that was created and is still
    empty is removed again.

    Raises:
        BlockingIOError: Another process holds the lock.
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
                f"{str(folder)!r}, where another one trains."
            ) from error
        yield
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):  # Not empty.
            for path in made:
                path.rmdir()


@contextlib.contextmanager
def run_folder(output: str | Path):
    """Locks the folder of a run, and yields its path.

    Of several processes, process 0 has the folder; the others have a copy of it, which is deleted
    when the context ends.
    """
    group = team()
    if group.process:
        copy = tempfile.mkdtemp(prefix="kformer-")
        group.at_loss(lambda: shutil.rmtree(copy, ignore_errors=True))
        try:
            receive_files(group, Path(copy))
            yield Path(copy)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        return
    with locked(output):
        if group.processes > 1:
            send_files(group, Path(output), [*_FILES, CHECKPOINTS, MODELS, LOGS])
        yield Path(output)


def content(folder: Path) -> list[Path]:
    """Lists `folder`, without the temporary files of a run that was killed."""
    stems = {Path(name).stem for name in _FILES}
    return [
        path
        for path in folder.iterdir()
        if not (path.name.startswith(".") and path.name[1:].split("-")[0] in stems)
    ]


def clear(folder: str | Path):
    """Deletes the files of an earlier run in `folder`, and nothing else."""
    folder = Path(folder)
    for events in (folder / LOGS).rglob(_EVENTS):
        events.unlink()
    for pattern in ("*step-*.keras", "average.keras"):
        for model in (folder / MODELS).glob(pattern):
            model.unlink()
    with contextlib.suppress(OSError):  # Missing, or not empty.
        (folder / MODELS).rmdir()
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    for name in reversed(_FILES):  # The run config last: it marks the folder as that of a run.
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder: str | Path):
    """Deletes the temporary files of a killed run in `folder`."""
    for path in {*Path(folder).iterdir()} - {*content(Path(folder))}:
        path.unlink()
