"""A table of the pairs that are not in the shards: file, line and reason."""

import itertools
from collections.abc import Iterator
from typing import TextIO

import numpy as np

from kformer.text.bitexts import numbered_bitext
from kformer.training.data.parallel_files import count_lines
from kformer.training.shards.preparation.reading import PairFiles

HEADER = ("file", "line", "reason")


class DroppedTable:
    """Writes a TSV file with a line for each pair that is dropped, in the order of the text.

    Of equal pairs, the first one counts as kept. Near-duplicates, which are known last, come last.
    The files are read a second time for their lines, and each kept pair takes 8 bytes of memory;
    with `near_duplicates` about 200.

    Args:
        file: The open file.
        files: `PairFiles`.
        near_duplicates: Whether `finish` gets any.
    """

    def __init__(self, file: TextIO, files: PairFiles, near_duplicates: bool):
        self._file = file
        self._places = _places(files)
        self._kept = np.empty(0, np.uint64)  # Hashes, ascending.
        self._places_of = {} if near_duplicates else None  # By hash.
        self._write(*HEADER)

    def add(self, reasons: np.ndarray, hashes: np.ndarray):
        """Writes the dropped pairs of the next batch.

        Args:
            reasons: str array (N,), "" for those that are not dropped by a rule.
            hashes: uint64 array (M,), those of the M others.
        """
        places = [*itertools.islice(self._places, len(reasons))]
        reasons, others = reasons.astype(object), np.flatnonzero(reasons == "")
        _, first = np.unique(hashes, return_index=True)
        is_new = np.zeros(len(hashes), bool)
        is_new[first] = ~np.isin(hashes[first], self._kept)
        reasons[others[~is_new]] = "duplicate"
        self._kept = np.union1d(self._kept, hashes[is_new])
        for place, reason in zip(places, reasons, strict=True):
            if reason:
                self._write(*place, reason)
        if self._places_of is not None:
            for number, one in zip(others[is_new], hashes[is_new].tolist(), strict=True):
                self._places_of[one] = places[number]

    def finish(self, near_duplicates: np.ndarray):
        """Writes the near-duplicates, given by their hashes."""
        for place in sorted((self._places_of or {})[one] for one in near_duplicates.tolist()):
            self._write(*place, "near_duplicate")

    def _write(self, *values):
        *place, reason = values
        self._file.write("\t".join([*map(str, place), reason.replace("_", " ")]) + "\n")


def _places(files: PairFiles) -> Iterator[tuple[str, int]]:
    """Yields the file and the line of each pair, in the order of `read_batches`."""
    for file in files.source:
        for line in range(1, count_lines(file) + 1):
            yield file, line
    for file in files.pairs:
        for row in numbered_bitext(file, files.columns, named=files.named):
            yield file, row.line
