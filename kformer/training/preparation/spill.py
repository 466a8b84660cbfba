"""Pairs as ids on disk, in files by the first bits of their hash.

Equal pairs have one hash, so they meet in one file, and each file is small enough for memory. The
hashes are random, so the files in their order, each sorted by its hashes, are all pairs shuffled.
The result depends neither on the order of the text nor on how it was cut into batches. `Tokenizing`
turns text into ids, and drops pairs by their lengths.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kformer.text.tokenizer import Tokenizer
from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.preparation.preparation_options import PreparationOptions
from kformer.training.preparation.raw_pairs import Pairs
from kformer.training.shards.shard_file import Rows, joined, rows_from_sides

_BITS = 8  # Of a hash, which choose its file.


class Spill:
    """Takes pairs in batches, and returns the different ones in parts.

    Args:
        folder: An empty folder for the files.
        dtype: NumPy's type of the ids.
    """

    def __init__(self, folder: Path, dtype: Any):
        self._dtype = np.dtype(dtype)
        self._paths = [folder / f"{number:03}" for number in range(2**_BITS)]

    def add(self, rows: Rows, hashes: np.ndarray):
        """Writes pairs that are sorted by their hashes."""
        for number, content in packed(rows, hashes):
            with self._paths[number].open("ab") as file:
                file.write(content)

    def parts(self, size: int, dropped: np.ndarray) -> Iterator[Rows]:
        """Yields different pairs in parts of at least `size`; deletes them afterwards.

        The pairs of a part, and the parts, are in the order of the hashes. Pairs with
        the hashes `dropped`, in ascending order, are left out.
        """
        parts, pairs = [], 0
        for path in self._paths:
            if path.exists():
                parts.append(different([path.read_bytes()], self._dtype, dropped))
                path.unlink()
                pairs += len(parts[-1].lengths)
            if pairs >= size:
                yield joined(parts)
                parts, pairs = [], 0
        if pairs:
            yield joined(parts)


def group_of(hashes: np.ndarray) -> np.ndarray:
    """Returns the number of the file of each pair, int64 (N,)."""
    return (hashes >> np.uint64(64 - _BITS)).astype(np.int64)


def packed(rows: Rows, hashes: np.ndarray) -> Iterator[tuple[int, bytes]]:
    """Yields the number of each file that gets some of the pairs, and these pairs as bytes.

    Args:
        hashes: uint64 (N,).
    """
    place = group_of(hashes)
    limits = np.searchsorted(place, np.arange(2**_BITS + 1))
    ends = np.concatenate([[0], np.cumsum(rows.lengths.sum(axis=1, dtype=np.int64))])
    for number in np.unique(place).tolist():
        first, last = limits[number], limits[number + 1]
        ids = rows.ids[ends[first] : ends[last]]
        sizes = np.array([last - first, len(ids)])
        arrays = sizes, hashes[first:last], rows.lengths[first:last], ids
        yield number, b"".join(array.tobytes() for array in arrays)


def different(contents: Iterable[bytes], dtype: Any, dropped: np.ndarray) -> Rows:
    """Returns the pairs of one file, each once, in the order of their hashes.

    Args:
        contents: The bytes of the file from `packed`, in pieces of any size.
    """
    hashes, rows = [], []
    for content in contents:
        place = 0
        while place < len(content):
            sizes, place = _array(content, np.int64, 2, place)
            pair_hashes, place = _array(content, np.uint64, sizes[0], place)
            lengths, place = _array(content, np.int32, 2 * sizes[0], place)
            ids, place = _array(content, dtype, sizes[1], place)
            hashes.append(pair_hashes)
            rows.append(Rows(lengths.reshape(-1, 2), ids))
    hashes, first = np.unique(np.concatenate(hashes), return_index=True)
    return joined(rows).take(first[~np.isin(hashes, dropped)])


def _array(content, dtype, size, place):
    """Returns the array that begins at a place, and where it ends."""
    return np.frombuffer(content, dtype, size, place), place + size * np.dtype(dtype).itemsize


class Tokenizing:
    """Turns pairs into ids, and drops pairs that are too long or of unlike lengths.

    Pairs that are blank for the tokenizer, such as control characters alone, are dropped, too.

    Args:
        tokenizers: `kformer.Tokenizer` of source and of target.
        options: `PreparationOptions`.
    """

    def __init__(self, tokenizers: tuple[Tokenizer, Tokenizer], options: PreparationOptions):
        self._tokenizers = tokenizers
        self._filter = PairFilter(options.max_length, options.max_length_ratio or None)
        largest = max(side.vocab_size for side in tokenizers)
        self.dtype = np.uint16 if largest <= 2**16 else np.int32

    def __call__(self, pairs: Pairs) -> tuple[Rows, dict[str, int]]:
        """Returns the pairs that stay, and the number of pairs dropped for each reason."""
        rows, reasons = self.with_reasons(pairs)
        counts = {name: int(np.count_nonzero(reasons == name)) for name in REASONS[1:]}
        return rows, counts

    def with_reasons(self, pairs: Pairs) -> tuple[Rows, np.ndarray]:
        """Returns the pairs that stay, and why each is dropped, "" for none: str array (N,)."""
        sides = []
        most, has_long_side = self._filter.most_bytes, self._filter.has_long_side(*pairs)
        for tokenizer, texts in zip(self._tokenizers, pairs, strict=True):
            ids = tokenizer.tokenize([text[:most] for text in texts])
            sides.append((ids.row_lengths().numpy(), ids.flat_values.numpy().astype(self.dtype)))
        rows = rows_from_sides(sides)
        source_lengths, target_lengths = (rows.lengths + 1).T
        reasons = self._filter(source_lengths, target_lengths, has_long_side)
        names = np.array(["", *REASONS[1:]])
        return rows.take(np.flatnonzero(reasons == 0)), names[reasons]
