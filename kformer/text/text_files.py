"""Text files: one sentence a line, UTF-8; plain or compressed: `.gz`, `.bz2`, `.xz`, `.zst`.

A line ends at a line feed; a `\\r` directly before it belongs to the line end. Everything else is
text, also a `\\r` or another separator within a line: the tokenizer interprets it.

Only the beginning of a line of more than 1,048,576 bytes is read (`kformer.text.long_lines`).
"""

import bz2
import contextlib
import io
import lzma
import os
import reprlib
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from kformer.files import check_file
from kformer.text.long_lines import lines_of

_FORMATS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
COMPRESSED = (*_FORMATS,)  # Endings of the names of compressed files.
_CHUNK = 2**14  # Compressed bytes that are read at once.
_HASHED = 2**18  # Bytes that are read and hashed at once.
_MOST = 2**18  # Bytes that one call decompresses. Zstandard has no such limit, so
_ZSTANDARD_CHUNK = 2**8  # few of its bytes are decompressed at once: they become 8 MiB at most.


def as_list(files: str | Path | Iterable[str | Path]) -> list[str]:
    """Returns one or several paths as a list of strings."""
    if isinstance(files, str | os.PathLike) or not isinstance(files, Iterable):
        files = [files]
    files = list(files)
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
        ends: Whether lines keep their line ends.
    """
    for number, line in enumerate(lines, start=first):
        if number == 1 and not line.endswith(b"\n") and b"\r" in line.rstrip(b"\r"):
            raise ValueError(
                "Lines must end in a line feed, not in a carriage return alone, as those of old "
                f"Macs; tr '\\r' '\\n' converts them. Received: {name}."
            )
        try:
            text = (line if ends else without_end(line)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Text must be UTF-8. Received: {name}, where line {number} is not "
                f"({error.reason})."
            ) from error
        yield text


def without_end(line: bytes) -> bytes:
    """Returns a line without its end."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def on_one_line(text: str) -> str:
    """Returns a text with its line ends, which no line of a file can hold, as spaces."""
    return text.replace("\r\n", " ").replace("\n", " ")


@contextlib.contextmanager
def opened(file: str | Path, digest: Any = None) -> Iterator[BinaryIO]:
    """Opens a text file to read its bytes, decompressed if its name ends in one of `COMPRESSED`.

    Args:
        digest: A hash object of `hashlib` that is updated with the bytes of the file as they are
            read; or None.
    """
    path = Path(file)
    check_file(path)
    with path.open("rb") as content:
        if digest is not None:
            content = io.BufferedReader(_Hashed(content, digest), _HASHED)
        if path.suffix in COMPRESSED:
            content = io.BufferedReader(_Decompressed(content, path.suffix))
        yield content


class _Hashed(io.RawIOBase):
    """Reads a file, and updates a hash with its bytes.

    Args:
        file: The open file.
        digest: The hash object.
    """

    def __init__(self, file: IO[bytes], digest: Any):
        self._file, self._digest, self.name = file, digest, file.name

    def readable(self):
        return True

    def readinto(self, buffer: Any):
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]  # Typeshed lacks it.
        self._digest.update(memoryview(buffer)[:size])
        return size


class _Decompressed(io.RawIOBase):
    """Reads a compressed file, of one or several members with zeros between and behind them.

    The readers of Python and of the package for `.zst` each miss some lost end or other garbage.

    Args:
        file: The open file.
        ending: One of `COMPRESSED`.
    """

    def __init__(self, file: IO[bytes], ending: str):
        self._file, self._ending = file, ending
        self._new_member, self._errors = _decompressor(file.name, ending)
        self._member, self._compressed = None, b""
        self._text: bytes | memoryview = b""

    def readable(self):
        return True

    def readinto(self, buffer: Any):
        while not self._text:
            has_more = self._member and not self._member.needs_input
            chunk = self._compressed or (b"" if has_more else self._file.read(_CHUNK))
            self._compressed = b""
            if not chunk and not self._member:
                return 0
            if not self._member:
                chunk = chunk.lstrip(b"\0")  # Padding; no member begins so.
            if chunk or self._member:
                self._text = memoryview(self._decompressed(chunk, has_more))
        size = min(len(buffer), len(self._text))
        buffer[:size], self._text = self._text[:size], self._text[size:]
        return size

    def _decompressed(self, chunk, has_more):
        if not chunk and not has_more:
            raise self._damaged("its end is missing")
        member = self._member or self._new_member()
        try:
            text = member.decompress(chunk, _MOST)
        except self._errors as error:
            raise self._damaged(error) from error
        self._member = None if member.eof else member
        self._compressed = member.unused_data if member.eof else b""
        return text

    def _damaged(self, why):
        return ValueError(
            f"A file named {self._ending} must be {_FORMATS[self._ending]}. "
            f"Received: {str(self._file.name)!r} ({why})."
        )


def _decompressor(file, ending):
    """Returns the maker of decompressors of a member, and the error that they raise."""
    if ending == ".gz":
        return _Gzip, zlib.error
    if ending == ".bz2":
        return bz2.BZ2Decompressor, OSError
    if ending == ".xz":
        return lzma.LZMADecompressor, lzma.LZMAError
    try:
        import zstandard
    except ImportError as error:
        raise ValueError(
            "A file named .zst needs a package: pip install 'kformer[zst]'. "
            f"Received: {str(file)!r}."
        ) from error
    return lambda: _Zstandard(zstandard.ZstdDecompressor().decompressobj()), zstandard.ZstdError


class _Gzip:
    """A decompressor of gzip with the interface of `bz2.BZ2Decompressor`."""

    def __init__(self):
        self._member = zlib.decompressobj(wbits=31)
        self.needs_input = True

    eof = property(lambda self: self._member.eof)
    unused_data = property(lambda self: self._member.unused_data)

    def decompress(self, chunk: bytes, max_length: int):
        text = self._member.decompress(self._member.unconsumed_tail + chunk, max_length)
        self.needs_input = len(text) < max_length and not self._member.unconsumed_tail
        return text


class _Zstandard:
    """A decompressor of Zstandard with the same interface; `max_length` is ignored."""

    def __init__(self, member: Any):
        self._member, self._waiting = member, b""

    eof = property(lambda self: self._member.eof)
    needs_input = property(lambda self: not self._waiting)
    unused_data = property(lambda self: self._member.unused_data + self._waiting)

    def decompress(self, chunk: bytes, max_length: int):
        waiting = self._waiting + chunk
        self._waiting = waiting[_ZSTANDARD_CHUNK:]
        return self._member.decompress(waiting[:_ZSTANDARD_CHUNK])


def read_lines(
    file: str | Path,
    ends: bool = False,
    parts: bool = False,
    digest: Any = None,
    may_be_empty: bool = False,
) -> Iterator[str]:
    """Yields the lines of a UTF-8 text file, plain or compressed; long lines are cut.

    Args:
        ends: Whether lines keep their line ends.
        parts: Whether lines that are too long are divided instead, as by `LineSplitter`.
        may_be_empty: Whether a file without any lines is allowed.
    """
    empty = not may_be_empty
    with opened(file, digest) as content:
        for line in decoded(lines_of(content, parts=parts), repr(str(file)), ends):
            empty = False
            yield line
    if empty:
        raise ValueError(f"Text files must not be empty. Received: {str(file)!r}.")
