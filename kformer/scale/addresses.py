"""Files on any file system that Beam reads: this machine's, or gs://, s3://, hdfs://.

A path of this machine must mean the same file on every worker.
"""

import contextlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from kformer.files import check_file

_PIECE = 2**20  # Bytes that are copied at once.
_LOST_SLASH = re.compile(r"^([A-Za-z][\w.+-]+):/(?!/)")  # `pathlib` makes one slash of two.


def as_address(path: str | os.PathLike) -> str:
    """Returns a path, or an address such as gs://bucket/file, as a string."""
    return _LOST_SLASH.sub(r"\1://", os.fspath(path))


def is_local(address: str) -> bool:
    """Returns whether an address is a path of this machine."""
    return "://" not in address


def check_readable(address: str):
    """Raises an error unless a file can be read at the address."""
    if is_local(address):
        check_file(address)
    elif not FileSystems.exists(address):
        raise FileNotFoundError(f"There is no such file. Received: {address!r}.")


def size_of(address: str) -> int:
    """Returns the number of bytes of a file."""
    [match] = FileSystems.match([address])
    return match.metadata_list[0].size_in_bytes


def opened(address: str) -> BinaryIO:
    """Opens a file to read its bytes as they are."""
    return FileSystems.open(address, compression_type=CompressionTypes.UNCOMPRESSED)


def published(local: Path, address: str):
    """Copies a file to an address, where it appears whole; an existing file is replaced."""
    temporary = f"{address}.{uuid.uuid4().hex[:8]}"
    with (
        local.open("rb") as content,
        FileSystems.create(temporary, compression_type=CompressionTypes.UNCOMPRESSED) as file,
    ):
        shutil.copyfileobj(content, file, _PIECE)
    FileSystems.rename([temporary], [address])


@contextlib.contextmanager
def local_copy(address: str) -> Iterator[Path]:
    """Yields the path of a file or a folder on this machine, copied if it is elsewhere."""
    if is_local(address):
        yield Path(address)
        return
    with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
        name = address.rstrip("/").rpartition("/")[2]
        [match] = FileSystems.match([address])
        if not match.metadata_list:
            [match] = FileSystems.match([f"{address.rstrip('/')}/**"])
        for entry in match.metadata_list:
            below = entry.path[len(address.rstrip("/")) :].strip("/")
            path = Path(folder, name, below) if below else Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened(entry.path) as content, path.open("wb") as file:
                shutil.copyfileobj(content, file, _PIECE)
        yield Path(folder, name)
