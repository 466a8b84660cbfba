"""Writes files and folders completely or not at all, one or several together."""

import atexit
import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import stat
import tempfile
import threading
import uuid
from pathlib import Path
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Signals that ask a process to end.
# Temporary path -> process id; files left at exit are deleted.
_unpublished: dict[str | Path, int] = {}


_POINTER = b"version https://git-lfs.github.com/spec/"
_MOST_OF_POINTER = 1024  # Bytes; Git LFS takes no longer file for a pointer.


def check_file(path: str | Path):
    """Raises an error unless `path` is a regular file, which can be read more than once."""
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
    if path.stat().st_size < _MOST_OF_POINTER:
        with path.open("rb") as content:
            if content.read(len(_POINTER)) == _POINTER:
                raise ValueError(
                    "The content of a file must be there, not a pointer of Git LFS: get it with "
                    f"`git lfs pull`. Received: {str(path)!r}."
                )


def is_same_file(path: str | Path | int, another: str | Path | int) -> bool:
    """Returns whether two paths or descriptors lead to one file or folder, by whatever name.

    It compares what links lead to, and hard links. Devices and pipes are never the same.
    """
    try:
        first, second = (
            os.fstat(file) if isinstance(file, int) else Path(file).stat()
            for file in (path, another)
        )
    except OSError:
        return False
    kinds = stat.S_IFREG, stat.S_IFDIR
    return stat.S_IFMT(first.st_mode) in kinds and os.path.samestat(first, second)


def check_another_file(output: str | Path, *inputs: str | Path):
    """Raises a ValueError if writing `output` would replace a file that is read."""
    for path in inputs:
        if is_same_file(path, output):
            raise ValueError(
                "The output must be another file than the input, which it would replace. "
                f"Received: output={str(output)!r}, the same as {str(path)!r}."
            )


def sha256(path: str | Path) -> str:
    """Returns the SHA-256 of the content of a file, in hexadecimal."""
    check_file(path)
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def sha256_of_folder(folder: str | Path) -> str:
    """Returns the SHA-256 of the names and checksums of all files in a folder, in hexadecimal."""
    folder = Path(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    contents = [f"{file.relative_to(folder)} {sha256(file)}\n" for file in files]
    return hashlib.sha256("".join(contents).encode()).hexdigest()


@contextlib.contextmanager
def replacing(path: str | Path):
    """Yields a temporary path beside `path`, and renames it to `path` if no error was raised.

    Write a file or a folder there. An old file at `path` is replaced, and the new one gets its
    owner and rights; an old folder never is. A link at `path` stays, and the file that it leads to
    is replaced. A pipe or a device stays, too, and gets the bytes when all are written. The
    temporary name has the same suffix, because some writers depend on it. An OSError without a
    file name, such as on a full disk, gets `path` as its file name.
    """
    with Publication() as publication, publication.writing(path) as temporary:
        yield temporary


def write_json(path: str | Path, content: Any):
    """Writes `content` to an indented JSON file, completely or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json_text(content), "utf-8")


def json_text(content: Any) -> str:
    """Returns `content` as indented JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def part_of(publication: Any):
    """Returns a context manager of `publication`, or of a new one if that is None."""
    return contextlib.nullcontext(publication) if publication else Publication()


class Publication:
    """Several files and folders that appear together when the `with` block ends, or none does.

    They are renamed one after another, files first: a process that waits for a folder then finds
    the files, too. If a file cannot be renamed, the renamed ones are removed again, and the files
    that they replaced are restored. Meanwhile, signals are delayed. Before that, pipes and devices
    get their bytes, which may wait for a reader; what they got cannot be taken back.
    """

    def __init__(self):
        self._outputs = {}  # path -> temporary path beside it
        self._streams = {}  # Path of a pipe or a device -> temporary path in a folder of its own
        self._folders = []  # New folders that contain them, the deepest first.

    @contextlib.contextmanager
    def writing(self, path: str | Path):
        """Yields a temporary path to write a file or a folder to, as `replacing` does."""
        path = Path(path)
        check_writable(path)
        if is_stream(path):
            temporary = self._stream_copy(path)
        else:
            path = linked(path)
            self._make_folders(path.parent)
            temporary = path.with_name(_temporary_name(path, uuid.uuid4().hex[:8]))
            _unpublished[temporary] = os.getpid()
            self._outputs[path] = temporary
        try:
            yield temporary
        except OSError as error:
            if error.errno and str(error.filename or temporary).startswith(str(temporary)):
                error.filename = str(path)
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._check_written()
                self._send()
                with _signals_held():
                    self._publish()
        finally:
            with _signals_held():
                self._discard()

    def _stream_copy(self, path):
        """Returns a temporary path for the bytes of a pipe or a device."""
        folder = Path(tempfile.mkdtemp(prefix="kformer-"))
        _unpublished[folder] = os.getpid()
        self._streams[path] = folder / path.name
        return self._streams[path]

    def _check_written(self):
        for path, temporary in (self._outputs | self._streams).items():
            if not temporary.exists():
                raise FileNotFoundError(errno.ENOENT, "Nothing was written", str(path))
        for path, temporary in self._streams.items():
            if temporary.is_dir():
                raise FileExistsError(
                    f"A folder cannot be written to a pipe or a device. Received: {str(path)!r}."
                )

    def _send(self):
        """Writes to pipes and devices."""
        for path, temporary in self._streams.items():
            try:
                with (
                    temporary.open("rb") as content,
                    open(path, "wb", opener=_opened_stream) as stream,
                ):
                    shutil.copyfileobj(content, stream)
            except OSError as error:
                error.filename = error.filename or str(path)
                raise

    def _publish(self):
        kept = {}  # path -> a copy of the old file, or None
        try:
            for path, temporary in sorted(
                self._outputs.items(), key=lambda output: output[1].is_dir()
            ):
                kept[path] = _keep(path)
                if kept[path]:
                    _take_rights(temporary, path)
                temporary.replace(path)
        except BaseException:
            for path, old in kept.items():
                if not self._outputs[path].exists():  # It was renamed.
                    path.replace(self._outputs[path])
                    if old:
                        old.replace(path)
            raise
        finally:
            for old in filter(None, kept.values()):
                _remove(old)
        for temporary in self._outputs.values():
            _unpublished.pop(temporary)
        self._outputs, self._folders = {}, []

    def _discard(self):
        for temporary in self._outputs.values():
            _remove(temporary)
        for temporary in self._streams.values():
            _remove(temporary.parent)
        for folder in self._folders:
            with contextlib.suppress(OSError):  # It contains something else by now.
                folder.rmdir()
        self._outputs, self._streams, self._folders = {}, {}, []

    def _make_folders(self, folder):
        missing = [above for above in (folder, *folder.parents) if not above.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._folders = [*missing, *self._folders]


def _temporary_name(path, number):
    return f".{path.stem}-{number}{path.suffix}"


def remove_leftovers(path: Path):
    """Removes the temporary files beside an output that killed processes were writing.

    No other process may be writing it.
    """
    path = linked(path)
    for file in path.parent.glob(".*"):
        number = file.name.removeprefix(f".{path.stem}-").removesuffix(path.suffix)
        is_number = len(number) == 8 and not {*number} - {*"0123456789abcdef"}
        if file.name == _temporary_name(path, number) and is_number and file.is_file():
            file.unlink()


def linked(path: Path) -> Path:
    """Returns the path that a link leads to, of a file that may be missing; or the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def is_stream(path: Path) -> bool:
    """Returns whether a path is a pipe, a device or a socket, which is written to, not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _opened_stream(path, _flags):
    """Opens a pipe or a device, and creates no file if it is gone meanwhile."""
    return os.open(path, os.O_WRONLY | os.O_NOCTTY)


def open_own(path: Path, mode: str):
    """Opens a file whose name others can guess: it must be a file of one name, and no link.

    In a folder where others may write, a link would have this process overwrite another file.
    """

    def opener(name, flags):
        try:
            descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENXIO):
                raise
            raise _foreign(name) from error
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            os.close(descriptor)
            raise _foreign(name)
        return descriptor

    return open(path, mode, opener=opener)


def _foreign(name):
    return PermissionError(
        "An unfinished file must be a file of its own, without links to it. "
        f"Received: {str(name)!r}. Delete it to begin again."
    )


def check_writable(path: str | Path):
    """Raises an `OSError` if no file or new folder can be written at `path`.

    Missing parent folders are no error, because writers create them.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"An existing folder is not replaced. Received: {str(path)!r}.")
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"The output must be writable. Received: {str(path)!r}.")
        return
    above = next(above for above in path.absolute().parents if os.path.lexists(above))
    if not above.is_dir():
        raise NotADirectoryError(
            f"Every parent must be a folder. Received: {str(path)!r}, and {str(above)!r} is not."
        )
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(
            f"The folder must be writable. Received: {str(path)!r}, and {str(above)!r} is not."
        )


def _keep(path):
    """Returns another link to the file `path`, or a copy of it; None if there is no such file."""
    if not path.is_file():
        return None
    old = path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}.old")
    _unpublished[old] = os.getpid()
    try:
        os.link(path, old)
    except OSError:  # Some file systems have no links.
        shutil.copy2(path, old)
    return old


def _take_rights(new, old):
    """Gives a new file the owner, as far as this process may, and the rights of an old one."""
    had, has = old.stat(), new.stat()
    if (had.st_uid, had.st_gid) != (has.st_uid, has.st_gid):
        with contextlib.suppress(PermissionError):
            os.chown(new, had.st_uid, had.st_gid)
    new.chmod(stat.S_IMODE(had.st_mode))


def _remove(temporary):
    if temporary.is_dir() and not temporary.is_symlink():
        shutil.rmtree(temporary)
    else:
        temporary.unlink(missing_ok=True)
    _unpublished.pop(temporary, None)


@contextlib.contextmanager
def _signals_held():
    """Delays signals to the end of the `with` block, so that they cannot interrupt it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread only.
        return
    came = []
    handled = [number for number in SIGNALS if signal.getsignal(number) is not None]
    handlers = {n: signal.signal(n, lambda number, _: came.append(number)) for n in handled}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


@atexit.register
def _remove_unpublished():
    for temporary, process in list(_unpublished.items()):
        if process == os.getpid():  # Not a file of a parent process.
            with contextlib.suppress(OSError):
                _remove(temporary)
