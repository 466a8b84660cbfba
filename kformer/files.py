"""Files appear whole or not at all."""

import contextlib
import shutil
import uuid
from pathlib import Path


def check_file(path):
    """Raises an error unless `path` is a file that can be read more than once."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"A file is needed, not a folder. Received: {str(path)!r}.")
    if not path.exists():
        raise FileNotFoundError(f"There is no such file. Received: {str(path)!r}.")
    if not path.is_file():
        raise ValueError(
            "A file is needed, not a pipe or a device, because it is read more than once. "
            f"Received: {str(path)!r}."
        )


@contextlib.contextmanager
def replacing(path):
    """Yields a temporary path beside `path`, and renames it to `path` if all went well.

    What is written there may be a file or a folder; an old file of the name is replaced, an old
    folder never. The temporary name keeps the suffix, since writers look at it. An error that
    names no file, as that of a full disk, then names `path`.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"A folder is not replaced. Received: {str(path)!r}.")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = str(path)
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)
        raise
