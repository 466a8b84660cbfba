"""`prepare_shards`: from text files to a folder of shards."""

import contextlib
import dataclasses
import itertools
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.files import Publication, sha256
from kformer.near_names import with_near_names
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.dropped_pairs import REASONS
from kformer.training.preparation.cleaning import Cleaning, DroppedTable, excluded_texts, none_left
from kformer.training.preparation.near_duplicates import NearDuplicates, bands
from kformer.training.preparation.preparation_options import PreparationOptions
from kformer.training.preparation.raw_pairs import (
    PairFiles,
    Pairs,
    Paths,
    pair_files,
    read_batches,
)
from kformer.training.preparation.spill import Spill, Tokenizing
from kformer.training.preparation.vocabulary_sample import vocabularies_of
from kformer.training.run.run_vocabularies import Vocabularies
from kformer.training.shards.manifest import FORMAT, TOKENIZERS, Manifest, ShardEntry, save_manifest
from kformer.training.shards.shard_file import Rows, write_shard

PAIRS_PER_SHARD = 500_000


@with_near_names
def prepare_shards(
    output: str | Path,
    source: Paths | None = None,
    target: Paths | None = None,
    *,
    pairs: Paths | None = None,
    columns: Sequence[str] | None = None,
    tokenizer: str | Path | None = None,
    target_tokenizer: str | Path | None = None,
    options: PreparationOptions | None = None,
    exclude: Paths | None = None,
    dropped: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Manifest:
    """Filters, tokenizes, deduplicates and shuffles parallel text, and writes it as shards.

    The memory depends on neither the size of the text nor its order. The folder appears whole or
    not at all. The same pairs give the same shards, in whatever order they are read.

    Args:
        output: The folder to write, which must not exist.
        source, target: A path or a list of paths each; line n of a target file translates line n of
            its source file. UTF-8; plain or compressed.
        pairs: Paths of files that hold both sides: TSV, CSV, JSON lines, TMX, also
            compressed, and Moses archives of OPUS (`.zip`); see `split_pairs`.
        columns: Names of the columns, or of the languages, of source and target in `pairs`. They
            are the languages of the shards for `Direction`.
        tokenizer: Path of a SentencePiece model, or of a `.keras` translator, whose vocabulary (or
            two) is used. By default one is learned from a sample of the text.
        target_tokenizer: The same for the target, if it has its own vocabulary.
        options: `PreparationOptions`.
        exclude: Paths of texts, one a line, that must not be in the shards, such as both sides of
            the test text: pairs with such a side are dropped.
        dropped: Path of a TSV file to write, with file, line and reason of each dropped pair; see
            `DroppedTable` for its memory.
        progress: Called with the number of pairs that have been read so far.

    Returns:
        The `Manifest` of the folder, with the numbers of dropped pairs by reason.

    Raises:
        FileNotFoundError, ValueError: A file is missing or malformed, or no pair is left.
        IsADirectoryError: The folder exists.

    Examples:
        >>> from kformer.training import prepare_shards
        >>> tokenizer = "runs/de-en/translator.keras"
        >>> prepare_shards("shards", "test.de", "test.en", tokenizer=tokenizer).pairs
        500
    """
    options = options or PreparationOptions()
    files = pair_files(source, target, pairs, columns)
    excluded = excluded_texts(exclude)
    with Publication() as publication, publication.writing(output) as folder:
        clean = Cleaning(options, excluded)
        vocabularies = vocabularies_of(files, options, clean, tokenizer, target_tokenizer)
        tokenizers = [Tokenizer(model) for model in vocabularies.models]
        tokenize = Tokenizing((tokenizers[0], tokenizers[-1]), options)
        folder.mkdir()
        batches = _in_threads(lambda batch: ids_of(batch, clean, tokenize), read_batches(files))
        with _table(publication, dropped, files, options) as table:
            shards, counts = _write_shards(
                folder, batches, tokenize.dtype, options, progress, table
            )
        if not shards:
            raise none_left(counts, files)
        return write_manifest(folder, vocabularies, shards, counts, options, files)


@contextlib.contextmanager
def _table(publication, path, files, options):
    """Yields the `DroppedTable` at a path; None without one."""
    if path is None:
        yield None
        return
    with publication.writing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield DroppedTable(file, files, options.drop_near_duplicates)


def _write_shards(folder, batches, dtype, options, progress, table):
    """Writes the different pairs of all batches; returns the shards' entries, and counts."""
    folders = folder / "pairs", folder / "bands"
    for part_folder in folders:
        part_folder.mkdir()
    spill, similar, counts = Spill(folders[0], dtype), NearDuplicates(folders[1]), Counter()
    for rows, hashes, batch_counts, why in batches:
        if table:
            table.add(*why)
        spill.add(rows, hashes)
        if options.drop_near_duplicates:
            similar.add(bands(rows), hashes)
        counts.update(batch_counts)
        if progress:
            progress(counts["read"])
    dropped = similar.dropped()
    if table:
        table.finish(dropped)
    shards = [
        write_part(folder, f"{number:05}", part)
        for number, part in enumerate(spill.parts(PAIRS_PER_SHARD, dropped))
    ]
    for part_folder in folders:
        part_folder.rmdir()
    count_rest(counts, len(dropped), shards)
    return shards, counts


def count_rest(counts: Counter, near_duplicates: int, shards: Sequence[dict]):
    """Adds the numbers of pairs that are known only after all batches."""
    counts["near_duplicate"] = near_duplicates
    counts["kept"] = sum(shard["pairs"] for shard in shards)
    counts["duplicate"] = counts["read"] - (counts.total() - counts["read"])  # What is left.


class TokenizedPairs(NamedTuple):
    """The different pairs of a batch.

    Attributes:
        rows: Their ids.
        hashes: Their hashes, ascending, uint64 (M,).
        counts: Number of read pairs, and numbers of dropped pairs by the name of the reason.
        why: Two arrays: the reason why each pair of the batch was dropped, or ""; and the hashes
            of the remaining pairs, equal pairs included.
    """

    rows: Rows
    hashes: np.ndarray
    counts: Counter
    why: tuple[np.ndarray, np.ndarray]


def ids_of(batch: Pairs, clean: Cleaning, tokenize: Tokenizing) -> TokenizedPairs:
    """Returns the different pairs of a batch as ids, their hashes in order, and counts."""
    reasons = clean.reasons(batch).astype(object)
    left = np.flatnonzero(reasons == "")
    rows, reasons[left] = tokenize.with_reasons(batch.keep(reasons == ""))
    counts = Counter(dict.fromkeys((*clean.rules, *REASONS[1:]), 0))
    counts.update(reasons[reasons != ""].tolist())
    counts["read"] = len(reasons)
    all_hashes = rows.hashes()
    hashes, first = np.unique(all_hashes, return_index=True)
    return TokenizedPairs(rows.take(first), hashes, counts, (reasons, all_hashes))


def write_part(folder: Path, name: str, rows: Rows) -> ShardEntry:
    """Writes a shard; returns its entry of the manifest."""
    digests = write_shard(folder, name, rows)
    ids = rows.lengths.sum(axis=0, dtype=np.int64).tolist()
    return {"name": name, "pairs": len(rows.lengths), "ids": ids, "sha256": digests}


def write_manifest(
    folder: Path,
    vocabularies: Vocabularies,
    shards: list[ShardEntry],
    counts: Counter,
    options: PreparationOptions,
    files: PairFiles,
) -> Manifest:
    """Writes the vocabularies and the manifest of a folder, whose shards are there already."""
    for name, model in zip(TOKENIZERS, vocabularies, strict=True):
        if model is not None:
            (folder / name).write_bytes(model)
    manifest = Manifest(
        format=FORMAT,
        pairs=counts["kept"],
        counts=dict(counts),
        tokenizers={name: sha256(folder / name) for name in TOKENIZERS if (folder / name).exists()},
        vocab_sizes={**vocabularies.sizes()},
        settings={**dataclasses.asdict(options), "columns": files.columns},
        files={
            name: [str(Path(file).absolute()) for file in paths]
            for name, paths in files.paths_by_name().items()
        },
        shards=shards,
    )
    save_manifest(folder, manifest)
    return manifest


def _in_threads(function: Callable, items: Iterable) -> Iterator:
    """Yields `function(item)` of each item in order; some are computed ahead, one a processor."""
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        items, waiting = iter(items), deque[Future]()
        for item in itertools.islice(items, workers):
            waiting.append(pool.submit(function, item))
        while waiting:
            yield waiting.popleft().result()
            for item in itertools.islice(items, 1):
                waiting.append(pool.submit(function, item))
