"""Reads the documents of plain text in windows."""

from pathlib import Path

import tensorflow as tf

from kformer.text.documents import END, LINE, document_files
from kformer.training.data.mixture import WINDOW, Mixture, ended_texts
from kformer.training.data.parallel_files import count_long_lines

_WINDOW_BYTES = 2**25  # Of a window of long documents, at most, or one document.


def document_mixture(files: list[str], documents: str = LINE) -> Mixture:
    """Returns a `Mixture` with the documents of `files` on both sides.

    Args:
        files: Paths.
        documents: One of `kformer.text.documents.DOCUMENTS`.

    Raises:
        FileNotFoundError, ValueError: A file is missing, empty or not UTF-8.
    """
    if documents == LINE and not any(map(count_long_lines, files)):
        return Mixture(files, files)
    return _OfDocuments(files, documents)


class _OfDocuments(Mixture):
    """Documents of several lines, or long ones."""

    def __init__(self, files, documents):
        written = [file for file in document_files(files, documents) if file.count]
        if not written:
            raise ValueError(f"Some text must be left to use. Received: {files}, all blank.")
        self._counts = {file.path: file.count for file in written}
        size = sum(Path(path).stat().st_size for path in self._counts) / sum(self._counts.values())
        window = max(1, min(WINDOW, int(_WINDOW_BYTES / size)))
        super().__init__([*self._counts], [*self._counts], window=window)

    def count(self, files, _):
        return [self._counts[file] for file in files]

    def texts(self, file: str) -> tf.data.Dataset:
        return ended_texts(file, END)
