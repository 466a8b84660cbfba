"""Reads ZIP archives and gzip files from elsewhere, with bounds on what they unpack to."""

import errno
import gzip
import io
import lzma
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from kformer.files import check_file

if TYPE_CHECKING:  # The command line imports this module, also for --help.
    import numpy as np

# A member read at once may be 20 times as large as the archive, and always 64 MiB. Deflate reaches
# a thousand times, for zeros; weights do not reach two times, and text hardly five times.
_MOST_TIMES = 20
_ALWAYS = 2**26
_MOST_MEMBERS = 10_000  # Of an archive that is unpacked: each becomes a file.
_ARRAY = ".npy"
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, struct.error, OSError)
_NO_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
_UNREADABLE = (NotImplementedError, RuntimeError)  # Of zipfile: a compression, or encryption.


def read_unpacked(path: str | Path) -> bytes:
    """Returns the content of a file, unpacked if its name ends in .gz."""
    path = Path(path)
    check_file(path)
    if path.suffix != ".gz":
        return path.read_bytes()
    rule = "A file that is named .gz must be a gzip file."
    most = max(_ALWAYS, _MOST_TIMES * path.stat().st_size)
    try:
        with gzip.open(path) as stream:
            content = stream.read(most + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{rule} Received: {str(path)!r} ({error}).") from error
    if len(content) > most:
        why = f"it unpacks to more than {_MOST_TIMES} times its size"
        raise ValueError(f"{rule} Received: {str(path)!r} ({why}).")
    return content


class Archive:
    """An open ZIP archive, to be used in a `with` statement.

    Args:
        file: Its path, or an open file that can be sought in.
        rule: The rule for the file, a sentence for messages.
        name: Name of the file, for messages; None for the path.

    Raises:
        OSError: It cannot be opened.
        ValueError: It is not a ZIP archive. All methods raise it for a member that is missing,
            damaged, encrypted, compressed in an unusual way, or much larger than the archive.
    """

    def __init__(self, file: str | Path | BinaryIO, rule: str, name: str | None = None):
        self._rule, self._name = rule, repr(str(file)) if name is None else name
        if isinstance(file, str | Path):
            check_file(file)
        self._file = Path(file).open("rb") if isinstance(file, str | Path) else file  # noqa: SIM115
        try:
            self._size = self._file.seek(0, io.SEEK_END)
            self._archive = zipfile.ZipFile(self._file)
        except (*_DAMAGE, *_UNREADABLE, ValueError) as error:
            self._file.close()
            raise self._broken(error) from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._archive.close()
        self._file.close()

    def names(self) -> list[str]:
        """Returns the names of all members."""
        return self._archive.namelist()

    def read(self, name: str) -> bytes:
        """Returns the content of a member."""
        info = self._info(name)
        self._check_size(repr(name), info.file_size)
        try:
            return self._archive.read(info)
        except (*_DAMAGE, *_UNREADABLE) as error:
            raise self._broken(error) from error

    def array_names(self) -> list[str]:
        """Returns the names of the arrays of an `.npz` file."""
        return [name.removesuffix(_ARRAY) for name in self.names()]

    def array(self, name: str) -> "np.ndarray":
        """Returns an array of an `.npz` file, of numbers or strings, never of objects."""
        import numpy as np

        name += "" if name in self.names() else _ARRAY
        content = io.BytesIO(self.read(name))
        try:
            array = np.load(content, allow_pickle=False)
            if not isinstance(array, np.ndarray):  # An archive in the archive.
                raise ValueError
            return array
        except Exception as error:  # NumPy, zipfile and the parsers of a header raise many kinds.
            # NumPy's message would advise to run code of the file.
            raise self._broken(f"{name!r} is no array of numbers") from error

    def open(self, name: str) -> BinaryIO:
        """Returns a stream of a member, which may have any size."""
        info = self._info(name)
        try:
            return io.BufferedReader(_Member(self._archive.open(info), self._broken))
        except (*_DAMAGE, *_UNREADABLE) as error:
            raise self._broken(error) from error

    def unpack(self, folder: Path):
        """Writes all members into a new folder, with the names that they have."""
        self.check_sizes()
        members = [name for name in self.names() if not name.endswith("/")]
        if not members or len(members) > _MOST_MEMBERS:
            raise self._broken(f"{len(members):,} files, not 1 to {_MOST_MEMBERS:,}")
        folder.mkdir()
        for name in members:
            inner = PurePosixPath(name.replace("\\", "/"))
            if inner.is_absolute() or ".." in inner.parts or PureWindowsPath(name).drive:
                raise self._broken(f"{name!r:.99} leads outside the folder")
            path = folder / inner
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file, self.open(name) as stream:
                    shutil.copyfileobj(stream, file)
            except OSError as error:
                if error.errno in _NO_NAMES:  # All others are the fault of the disk.
                    raise self._broken(f"{name!r:.99}, {error.strerror}") from error
                raise

    def check_sizes(self):
        """Raises a ValueError if the members together are much larger than the archive.

        For readers of the archive by other means.
        """
        self._check_size(
            "its members", sum(member.file_size for member in self._archive.infolist())
        )

    def _info(self, name):
        try:
            return self._archive.getinfo(name)
        except KeyError as error:
            raise self._broken(f"no member {name!r}") from error

    def _check_size(self, what, size):
        if size > max(_ALWAYS, _MOST_TIMES * self._size):
            raise self._broken(
                f"{what} of {size:,} bytes, more than {_MOST_TIMES} times those of the file"
            )

    def _broken(self, why):
        if isinstance(why, _UNREADABLE):
            rule = "Members must not be encrypted, and be stored, or compressed by Deflate, bzip2 "
            return ValueError(f"{rule}or LZMA. Received: {self._name} ({why}).")
        return ValueError(f"{self._rule} Received: {self._name} ({why}).")


class _Member(io.RawIOBase):
    """A member of an archive as a stream that raises the errors of `Archive`.

    Args:
        stream: The stream of zipfile.
        broken: callable (error) -> ValueError.
    """

    def __init__(self, stream: IO[bytes], broken: Callable[[Any], ValueError]):
        self._stream, self._broken = stream, broken

    def readable(self):
        return True

    def readinto(self, buffer: Any):
        try:
            return self._stream.readinto(buffer)  # type: ignore[attr-defined]  # Typeshed lacks it.
        except (*_DAMAGE, *_UNREADABLE) as error:
            raise self._broken(error) from error

    def close(self):
        self._stream.close()
        super().close()
