"""Documents of text files, for language models, and how files hold them.

- "line": each line is a document.
- "blank-line": blank lines separate documents, which keep their line breaks.
- "file": each file is a document, without the blank lines at its ends.

Only the beginning of a document of more than `kformer.text.long_lines.LONGEST` bytes is read, as of
lines. Training reads all of it, in parts that are documents of their own.
"""

import functools
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kformer.arguments import check_choice
from kformer.files import check_file
from kformer.text.long_lines import LONGEST
from kformer.text.tables import temporary_folder
from kformer.text.text_files import read_lines

DOCUMENTS = LINE, BLANK_LINE, FILE = ("line", "blank-line", "file")
END = b"\xff"  # Ends a document in a `DocumentFile`; no UTF-8 text has this byte.


class DocumentFile(NamedTuple):
    """A plain file of documents, each of them ended by `END`."""

    path: str
    total: int  # Number of documents.


def read_documents(file: str | Path, documents: str = LINE, parts: bool = False) -> Iterator[str]:
    """Yields the documents of a UTF-8 text file, plain or compressed.

    The line breaks of a document are line feeds. Only documents that are lines may be blank.

    Args:
        parts: Whether a document that is too long is divided; else it is cut.
    """
    check_choice("documents", documents, DOCUMENTS)
    return documents_of(read_lines(file, parts=parts), documents, parts)


def documents_of(lines: Iterable[str], documents: str = LINE, parts: bool = False) -> Iterator[str]:
    """Yields the documents in the lines of a file; arguments as for `read_documents`."""
    if documents == LINE:
        yield from lines
        return
    document: list[str] = []
    size = 0  # Bytes.
    for line in lines:
        if line.strip() or (document and documents == FILE):
            if parts and size > LONGEST:
                yield "\n".join([*document, ""])
                document, size = [], 0
            if size <= LONGEST:
                document.append(line)
                size += len(line.encode()) + 1
        elif document:
            yield "\n".join(document)
            document, size = [], 0
    while document and not document[-1].strip():
        del document[-1]
    if document:
        yield "\n".join(document)


def document_files(files: list[str], documents: str) -> list[DocumentFile]:
    """Writes documents into temporary files, from which they are read in graph.

    A document of more than `LONGEST` bytes is divided into several.

    Files that have not changed are read once per process.
    """
    for file in files:
        check_file(file)
    states = [Path(file).stat() for file in files]
    versions = [
        (file, state.st_ino, state.st_size, state.st_mtime_ns)
        for file, state in zip(files, states, strict=True)
    ]
    groups = [tuple(versions)] if documents == FILE else [(version,) for version in versions]
    return [_written(group, documents) for group in groups]


@functools.lru_cache
def _written(files_and_states, documents):
    path, count = Path(tempfile.mkdtemp(dir=temporary_folder()), "documents"), 0
    with path.open("wb") as written:
        for file, *_ in files_and_states:
            for document in read_documents(file, documents, parts=True):
                written.write(document.encode() + END)
                count += 1
    return DocumentFile(str(path), count)
