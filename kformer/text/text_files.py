"""Text files: one sentence a line, UTF-8; plain, `.gz` or `.zst`."""

import contextlib
import gzip
import io
import os
import reprlib
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from kformer.files import check_file


def as_list(files: str | Path | Iterable[str | Path]) -> list[str]:
    """Returns one or several paths as a list of strings.

    Raises:
        TypeError: An element is not a path, but a pair of sentences, for instance.
    """
    alone = isinstance(files, str | os.PathLike) or not isinstance(files, Iterable)
    files = [files] if alone else list(files)
    for file in files:
        if not isinstance(file, str | os.PathLike):
            raise TypeError(
                "`files` must be a path or a list of paths, not the sentences or pairs themselves. "
                f"Received: {reprlib.repr(file)}, of type {type(file).__name__}."
            )
    return [os.fspath(file) for file in files]


def decoded(lines: Iterable[bytes], name: str, ends: bool = False, first: int = 1) -> Iterator[str]:
    """Yields lines of bytes as text; messages contain the `name` of the file.

    Args:
        lines: They end in a line feed.
        name: As messages show it.
        ends: Whether lines keep their line ends.
        first: Number of the first of the lines.

    Raises:
        ValueError: A line is not UTF-8; the message has its number.
    """
    for number, line in enumerate(lines, start=first):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Text must be UTF-8. Received: {name}, where line {number} is not "
                f"({error.reason})."
            ) from error
        yield text if ends else text.rstrip("\r\n")


@contextlib.contextmanager
def opened(file: str | Path) -> Iterator[BinaryIO]:
    """Opens a text file to read its bytes, decompressed if its name ends in `.gz` or `.zst`.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file is a pipe or a device, is not compressed so, or the package for `.zst`
            is missing.
    """
    path = Path(file)
    check_file(path)
    if path.suffix == ".zst":
        with path.open("rb") as compressed, io.BufferedReader(_Zstandard(compressed)) as content:
            yield content
        return
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as content:
            yield content
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"A file named .gz must be gzip. Received: {str(file)!r} ({error})."
        ) from error


class _Zstandard(io.RawIOBase):
    """Reads a file of Zstandard frames; unlike the package's own reader, it misses no lost end."""

    def __init__(self, file):
        try:
            import zstandard
        except ImportError as error:
            raise ValueError(
                "A file named .zst needs a package: pip install 'kformer[zst]'. "
                f"Received: {file.name!r}."
            ) from error
        self._file, self._library = file, zstandard
        self._frame, self._compressed, self._text = None, b"", b""

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._text:
            chunk = self._compressed or self._file.read(2**17)
            if not chunk and not self._frame:
                return 0
            self._text = memoryview(self._decompressed(chunk))
        size = min(len(buffer), len(self._text))
        buffer[:size], self._text = self._text[:size], self._text[size:]
        return size

    def _decompressed(self, chunk):
        frame = self._frame or self._library.ZstdDecompressor().decompressobj()
        try:
            if not chunk:
                raise self._library.ZstdError("its end is missing")
            text = frame.decompress(chunk)
        except self._library.ZstdError as error:
            raise ValueError(
                f"A file named .zst must be Zstandard. Received: {self._file.name!r} ({error})."
            ) from error
        self._frame = None if frame.eof else frame
        self._compressed = frame.unused_data if frame.eof else b""
        return text


def read_lines(file: str | Path, ends: bool = False) -> Iterator[str]:
    """Yields the lines of a UTF-8 text file; plain, `.gz` or `.zst`.

    Args:
        ends: Whether lines keep their line ends.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: See `opened`; or the file is empty or not UTF-8.
    """
    empty = True
    with opened(file) as lines:
        for line in decoded(lines, repr(str(file)), ends):
            empty = False
            yield line
    if empty:
        raise ValueError(f"Text files must not be empty. Received: {str(file)!r}.")
