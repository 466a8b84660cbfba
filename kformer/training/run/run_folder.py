"""The folder of a training run: its files, its lock, its deletion, its copy to other processes.

Before a run of several processes begins, process 0 sends its files to the others. A list of
relative names and sizes goes first, then the contents, in chunks. Only regular files are copied; a
link within the folder is copied as the file that it leads to, and a linked folder below the named
ones is left out.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kformer.kinds import MODEL_FILES
from kformer.training.parallel.process_team import ProcessTeam, team

_CHUNK = 2**23  # Bytes.


def send_files(team: ProcessTeam, folder: Path, names: Iterable[str]):
    """Sends files to the other processes, which call `receive_files`."""
    files = [(path, path.stat().st_size) for name in names for path in _regular(folder / name)]
    listing = [[path.relative_to(folder).as_posix(), size] for path, size in files]
    team.exchange(listing, _may_be_listed)
    for path, size in files:
        with path.open("rb") as file:
            for start in range(0, size, _CHUNK):
                team.exchange_bytes(file.read(min(_CHUNK, size - start)))


def receive_files(team: ProcessTeam, folder: Path):
    """Writes the files that process 0 sends into the empty `folder`."""
    listing = team.exchange(None, _may_be_listed)[0] or []
    total, free = sum(size for _, size in listing), shutil.disk_usage(folder).free
    if total > free:
        raise OSError(
            f"The files of the run need space in {str(folder.parent)!r}, the folder of temporary "
            f"files. Received: {total:,} bytes, of {free:,} that are free."
        )
    for name, size in listing:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:  # A name that comes twice is an error.
            for start in range(0, size, _CHUNK):
                chunk = team.exchange_bytes(b"")[0]
                if len(chunk) != min(_CHUNK, size - start):
                    raise ValueError(
                        "A file of the run must not change while it is copied. "
                        f"Received: {name!r}, of {size:,} bytes at first."
                    )
                file.write(chunk)


def _regular(path):
    if path.is_file():
        yield path
    for parent, _, names in os.walk(path):
        yield from (Path(parent, name) for name in sorted(names) if Path(parent, name).is_file())


def _may_be_listed(listing):
    """Whether a value lists files in a folder, or is None, which other processes than 0 send."""
    return listing is None or (isinstance(listing, list) and all(map(_may_be_file, listing)))


def _may_be_file(entry):
    match entry:
        case [str(name), int(size)]:
            return size >= 0 and not {"", ".", ".."} & {*name.split("/")}
    return False


RUN_CONFIG = "run.json"  # Written when a run starts, resumes and ends.
HISTORY = "history.json"
PICTURE = "history.png"
CHECKPOINTS = "checkpoints"  # All that is needed to resume an unfinished run.
COMPILED = f"{CHECKPOINTS}/compiled"  # Compiled steps of XLA, on JAX.
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
    """
    folder = Path(folder)
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    if created:
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
            for path in created:
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
    for name in reversed(_FILES):  # The run config last: it marks a folder as the folder of a run.
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder: str | Path):
    """Deletes the temporary files of a killed run in `folder`."""
    for path in {*Path(folder).iterdir()} - {*content(Path(folder))}:
        path.unlink()
