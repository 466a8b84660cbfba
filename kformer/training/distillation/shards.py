"""The text that a student learns from, as shards: every pair, as often as it is there."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kformer.files import replacing
from kformer.text.tokenizer import Tokenizer
from kformer.training.run.vocabularies import read_vocabularies
from kformer.training.shards.preparation.options import PreparationOptions
from kformer.training.shards.preparation.prepare import (
    PAIRS_PER_SHARD,
    write_manifest,
    write_part,
)
from kformer.training.shards.preparation.reading import BATCH, pair_files, read_batches
from kformer.training.shards.preparation.tokenizing import Tokenizing
from kformer.training.shards.rows import Rows, joined


def write_shards(
    output: str | Path,
    source: Sequence[str | Path],
    target: Sequence[str | Path],
    teacher: str | Path,
    max_length: int,
):
    """Writes parallel text as shards; unlike `prepare_shards`, it drops no pair that can be used.

    Args:
        output: Path of the folder to write, which must not exist. It appears whole or not at all.
        source, target: Paths of the text.
        teacher: Path of the `.keras` translator whose vocabularies are used.
        max_length: Maximum ids per sentence.

    Raises:
        ValueError: All pairs are blank or too long.
    """
    files = pair_files(source, target, None, None)
    options = PreparationOptions(max_length=max_length, max_length_ratio=0)
    vocabularies = read_vocabularies(teacher)
    tokenizers = [Tokenizer(model) for model in vocabularies.models]
    tokenize = Tokenizing((tokenizers[0], tokenizers[-1]), options)
    counts, shards = Counter(), []
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
    """Yields the pairs of each shard, and counts them and those that are dropped."""
    batches = read_batches(files)
    while several := [*itertools.islice(batches, PAIRS_PER_SHARD // BATCH)]:
        found = []
        for batch in several:
            rows, dropped = tokenize(batch)
            counts.update(dropped, read=len(batch.source))
            found.append(rows)
        if any(len(rows.lengths) for rows in found):
            yield joined(found)
