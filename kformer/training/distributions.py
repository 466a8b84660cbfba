"""A student's text as shards: its teachers' best translations, and their likeliest ids.

A student that also learns its teachers' probabilities of other words learns more of each sentence:
distillation by words, section 3.1 of [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947). The text
becomes shards, in which a file beside the ids of each shard has the probabilities of the K most
likely ids, for each id of each target. The rest of the vocabulary is left out.

The shards contain every pair as often as the text does. The target of a sentence is the teachers'
best translation: distillation by sequences, [Kim & Rush, 2016](https://arxiv.org/abs/1606.07947): a
translator is consistent where people are not, so a small model learns its translations better.
With a reference, the student learns the translation that is most like it (section 3.3).
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kformer.decoding.scoring import BatchLikelihood
from kformer.files import open_own, replacing, sha256
from kformer.inference.results import UNSURE, Translation
from kformer.inference.search_options import SearchOptions
from kformer.tasks.ensemble import Ensemble
from kformer.tasks.translator import Translator
from kformer.text.scores import sentence_scorer
from kformer.text.tokenizer import Tokenizer
from kformer.training.distillation import DistillationOptions
from kformer.training.preparation.preparation_options import PreparationOptions
from kformer.training.preparation.raw_pairs import BATCH, pair_files, read_batches
from kformer.training.preparation.shards_writer import (
    PAIRS_PER_SHARD,
    write_manifest,
    write_part,
)
from kformer.training.preparation.spill import Tokenizing
from kformer.training.run.run_vocabularies import read_vocabularies
from kformer.training.shards.manifest import ShardEntry, read_manifest, save_manifest
from kformer.training.shards.shard_file import (
    TEACHERS,
    UNITS,
    Rows,
    Shard,
    joined,
    open_shard,
    teachers_of,
)

_CHUNK = 4096  # Pairs that are read and written at once: so many are lost if the process ends.


def add_distributions(
    folder: str | Path,
    teacher: Translator | Ensemble,
    number: int,
    progress: Callable = lambda pairs: None,
):
    """Writes the teachers' likeliest ids for each target of a folder of shards, beside the shards.

    Where it was stopped, it goes on. The manifest names the new files when all are written.
    """
    folder, manifest = Path(folder), read_manifest(folder)
    read = _Reader(teacher, number)
    shards: list[ShardEntry] = []
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
    """Reads pairs with the teachers; returns the likeliest ids at each place of each target.

    Args:
        teacher, number: As for `add_distributions`.

    Attributes:
        number: K, at most the size of the vocabulary.
    """

    def __init__(self, teacher: Any, number: int):
        first, *rest = getattr(teacher, "translators", (teacher,))
        self._likelihood = BatchLikelihood(first.transformer, first.target_tokenizer)
        self._rest = [translator.transformer for translator in rest]
        prefix = first.tokenizer.prefix_id
        self._prefix = [] if prefix is None else [prefix]
        self._ends = [first.tokenizer.end_id], [first.target_tokenizer.end_id]
        self.number = min(number, first.target_tokenizer.vocab_size)

    def __call__(self, sources: list, targets: list) -> np.ndarray:
        """Returns the ids and their probabilities, float64 (P, 2 K), of pairs without end ids."""
        sources = [[*self._prefix, *row, *self._ends[0]] for row in sources]
        targets = [[*row, *self._ends[1]] for row in targets]
        rows: dict[int, np.ndarray] = {}
        for i, ids, probabilities in self._likelihood.most_likely(
            sources, targets, self.number, self._rest
        ):
            units = np.rint(np.float64(probabilities) * UNITS)
            rows[i] = np.concatenate([ids, units], axis=1)
        return np.concatenate([rows[i] for i in range(len(targets))])


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
    table = np.memmap(unfinished, dtype, "r").reshape(-1, columns)
    with replacing(path) as temporary:
        np.save(temporary, table)
    unfinished.unlink()


def write_shards(
    output: str | Path,
    source: Sequence[str | Path],
    target: Sequence[str | Path],
    teacher: str | Path,
    max_length: int,
):
    """Writes parallel text as shards; unlike `prepare_shards`, it drops no pair that can be used.

    Args:
        max_length: Maximum ids per sentence.
    """
    files = pair_files(source, target, None, None)
    options = PreparationOptions(max_length=max_length, max_length_ratio=0)
    vocabularies = read_vocabularies(teacher)
    tokenizers = [Tokenizer(model) for model in vocabularies.models]
    tokenize = Tokenizing((tokenizers[0], tokenizers[-1]), options)
    counts: Counter[str] = Counter()
    shards: list[ShardEntry] = []
    with replacing(output) as folder:
        folder.mkdir()
        for rows in _in_parts(files, tokenize, counts):
            shards.append(write_part(folder, f"{len(shards):05}", rows))
        counts["kept"] = sum(shard["pairs"] for shard in shards)
        if not counts["kept"]:
            raise ValueError(
                "A pair must be left to learn from. Received: "
                f"{counts['read']:,} pairs, all of them blank or of more than {max_length} ids."
            )
        write_manifest(folder, vocabularies, shards, counts, options, files)


def _in_parts(files, tokenize, counts) -> Iterator[Rows]:
    """Yields the pairs of each shard, and counts kept and dropped pairs."""
    batches = read_batches(files)
    while several := [*itertools.islice(batches, PAIRS_PER_SHARD // BATCH)]:
        parts = []
        for batch in several:
            rows, dropped = tokenize(batch)
            counts.update(dropped, read=len(batch.source))
            parts.append(rows)
        if any(len(rows.lengths) for rows in parts):
            yield joined(parts)


_NOTHING = Translation("", 0.0, (), (), ())  # A blank line: training drops the pair.


class Teaching:
    """Translates sources for a student.

    Args:
        teacher: `kformer.Translator` or `kformer.Ensemble`.
        options: `DistillationOptions`.
    """

    def __init__(self, teacher: Translator | Ensemble, options: DistillationOptions):
        self._teacher = teacher
        self._search: dict[str, Any] = {"beam_size": options.beam_size}
        if options.length_penalty is not None:
            self._search["length_penalty"] = options.length_penalty
        self._score = sentence_scorer(options.metric, options.tokenize)

    def __call__(
        self, pairs: Sequence[tuple[str, str]], progress: Callable | None = None
    ) -> list[list[Translation]]:
        """Returns for each pair a list of the one translation that the student learns.

        It is blank where no translation is fit for that: all are degenerate, or of a source that
        was cut.
        """
        several = any(reference for _, reference in pairs)
        number = self._search["beam_size"] if several else 1
        options = SearchOptions(**self._search, n_best=number)
        sources = [source for source, _ in pairs]
        hypotheses = self._teacher.translations(
            sources, options, progress=progress, details=False, split=False
        )
        references = [reference for _, reference in pairs]
        return [[self._best(*pair)] for pair in zip(hypotheses, references, strict=True)]

    def _best(self, translations, reference):
        fit = [each for each in translations if not {*each.flags} - {UNSURE}]
        if not reference or not fit:
            return fit[0] if fit else _NOTHING
        return max(fit, key=lambda translation: self._score(translation.text, reference))
