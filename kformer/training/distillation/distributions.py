"""What teachers say of each word of the translations: the ids that they find most likely there.

A student that also learns how likely its teachers find other words learns more of each sentence:
distillation by words, section 3.1 of [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947). The text
becomes shards, in which a file beside the ids of each shard has the probabilities of the K most
likely ids, for each id of each target. The rest of the vocabulary is left out.
"""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kformer.decoding.scoring import BatchLikelihood
from kformer.files import open_own, replacing
from kformer.tasks.ensemble import Ensemble
from kformer.tasks.translator import Translator
from kformer.training.shards.manifest import read_manifest, save_manifest
from kformer.training.shards.shard_file import (
    TEACHERS,
    UNITS,
    Shard,
    open_shard,
    sha256,
    teachers_of,
)

_CHUNK = 4096  # Pairs that are read and written at once: so many are lost if the process ends.


def add_distributions(
    folder: str | Path,
    teacher: Translator | Ensemble,
    number: int,
    progress: Callable = lambda pairs: None,
):
    """Writes what teachers say of each target of a folder of shards, beside the shards.

    Where it was stopped, it goes on. The manifest names the new files when all are written.

    Args:
        folder: Path of a folder of shards with the tokenizers of the teacher; see `write_shards`.
        teacher: `kformer.Translator` or `kformer.Ensemble`; its probabilities are the mean of
            those of its translators.
        number: K.
        progress: Called with the number of pairs done, after each part; those that an earlier
            process did are counted, too.
    """
    folder, manifest = Path(folder), read_manifest(folder)
    read = _Reader(teacher, number)
    shards = []
    for entry in manifest.shards:
        path = teachers_of(folder, entry["name"])
        if path.exists():
            progress(entry["pairs"])
        else:
            _write(path, open_shard(folder, entry["name"]), read, progress)
        shards.append({**entry, "sha256": {**entry["sha256"], TEACHERS: sha256(path)}})
    finished = dataclasses.replace(manifest, shards=shards, teacher_ids=read.number)
    save_manifest(folder, finished)


class _Reader:
    """Has the teachers read pairs; returns the likeliest ids at each place of each target.

    Args:
        teacher, number: Those of `add_distributions`.

    Attributes:
        number: K, at most the size of the vocabulary.
    """

    def __init__(self, teacher, number):
        first, *others = getattr(teacher, "translators", (teacher,))
        self._likelihood = BatchLikelihood(first.transformer, first.target_tokenizer)
        self._others = [one.transformer for one in others]
        prefix = first.tokenizer.prefix_id
        self._prefix = [] if prefix is None else [prefix]
        self._ends = [first.tokenizer.end_id], [first.target_tokenizer.end_id]
        self.number = min(number, first.target_tokenizer.vocab_size)

    def __call__(self, sources: list, targets: list) -> np.ndarray:
        """Returns the ids and their probabilities, float64 (P, 2 K), of pairs without end ids."""
        sources = [[*self._prefix, *row, *self._ends[0]] for row in sources]
        targets = [[*row, *self._ends[1]] for row in targets]
        found = [None] * len(targets)
        for i, ids, probabilities in self._likelihood.most_likely(
            sources, targets, self.number, self._others
        ):
            units = np.rint(np.float64(probabilities) * UNITS)
            found[i] = np.concatenate([ids, units], axis=1)
        return np.concatenate(found)


class _Pairs:
    """The pairs of a shard, in its order.

    Args:
        shard: `Shard`.
    """

    def __init__(self, shard: Shard):
        self._ids, groups = shard.ids, shard.groups
        self._lengths = np.repeat(groups[:, :2], groups[:, 2], axis=0)  # (N, 2)
        sizes = self._lengths.sum(axis=1)
        self._starts = np.cumsum(sizes) - sizes
        self._places = np.concatenate([[0], np.cumsum(self._lengths[:, 1] + 1)])

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yields the first pair of each chunk, and the first that is not in it any more."""
        number = len(self._lengths)
        for first in range(0, number, _CHUNK):
            yield first, min(first + _CHUNK, number)

    def places(self, pair: int) -> int:
        """Returns how many ids all targets before a pair have together, with their end ids."""
        return int(self._places[pair])

    def rows(self, first: int, last: int) -> tuple[list, list]:
        """Returns the sources and the targets of a chunk, lists of rows of ids."""
        sources, targets = [], []
        for start, (source, target) in zip(
            self._starts[first:last].tolist(), self._lengths[first:last].tolist(), strict=True
        ):
            sources.append(self._ids[start : start + source].tolist())
            targets.append(self._ids[start + source : start + source + target].tolist())
        return sources, targets


def _write(path: Path, shard: Shard, read: _Reader, progress: Callable):
    """Writes the file of a shard; its chunks are in a file beside it until all are there."""
    pairs, dtype = _Pairs(shard), shard.ids.dtype
    columns = 2 * read.number
    unfinished = path.with_suffix(".part")
    with open_own(unfinished, "ab") as file:
        written = file.tell() // (columns * dtype.itemsize)
        for first, last in pairs.chunks():
            if pairs.places(last) > written:
                # An earlier process may have ended within the chunk.
                file.truncate(pairs.places(first) * columns * dtype.itemsize)
                file.write(read(*pairs.rows(first, last)).astype(dtype).tobytes())
                file.flush()
            progress(last - first)
    said = np.memmap(unfinished, dtype, "r").reshape(-1, columns)
    with replacing(path) as temporary:
        np.save(temporary, said)
    unfinished.unlink()
