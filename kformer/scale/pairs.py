"""Files of pairs as batches of pairs, read by many workers.

Plain parallel text is read in blocks, each by any worker. Other files are read whole, one after
another by several workers: compressed ones, tables, TMX and archives.
"""

import contextlib
from typing import NamedTuple

import apache_beam as beam

from kformer.scale.addresses import local_copy
from kformer.scale.blocks import Lines, Table, blocks_of, count, is_compressed, read
from kformer.scale.runner import errors_of_users
from kformer.training.shards.preparation.reading import PairFiles, in_batches, read_batches


class ReadPairs(beam.PTransform):
    """Begins a pipeline with the pairs of all files: `Pairs`, some thousand each.

    Args:
        files: `PairFiles`.
    """

    def __init__(self, files: PairFiles):
        super().__init__()
        parallel = [*zip(files.source, files.target, strict=True)]
        self._split = [pair for pair in parallel if not any(map(is_compressed, pair))]
        self._whole = [
            files._replace(source=[source], target=[target], pairs=[])
            for source, target in parallel
            if (source, target) not in self._split
        ]
        self._whole += [files._replace(source=[], target=[], pairs=[one]) for one in files.pairs]

    def expand(self, begin):
        found = []
        if self._split:
            blocks = [
                (pair, side, block)
                for pair in self._split
                for side, file in enumerate(pair)
                for block in blocks_of(file)
            ]
            found.append(
                begin
                | "Blocks" >> beam.Create(blocks)
                | "SpreadBlocks" >> beam.Reshuffle()
                | "CountLines" >> beam.Map(_counted)
                | "ByFiles" >> beam.GroupByKey()
                | "Divide" >> beam.FlatMapTuple(_parts)
                | "SpreadParts" >> beam.Reshuffle()
                | "ReadParts" >> beam.FlatMap(_read_part)
            )
        if self._whole:
            found.append(
                begin
                | "Files" >> beam.Create(self._whole)
                | "SpreadFiles" >> beam.Reshuffle()
                | "ReadFiles" >> beam.FlatMap(_read_whole)
            )
        return found | beam.Flatten()


class _Part(NamedTuple):
    """Lines of both files of a pair."""

    source: Lines
    target: Lines


def _counted(one):
    files, side, block = one
    return files, (side, count(block))


def _parts(files, counted):
    """Yields parts of two files with the same lines; the source's blocks are the measure."""
    counted = [*counted]
    source, target = (Table(one for side, one in counted if side == which) for which in (0, 1))
    with errors_of_users():
        if source.number != target.number:
            raise ValueError(
                "Parallel files must have as many lines. "
                f"Received: {source.number} in {files[0]!r}, {target.number} in {files[1]!r}."
            )
    for part in source.parts(files[0]):
        yield _Part(part, target.find(files[1], part.first, part.number))


def _read_part(part):
    with errors_of_users():
        yield from in_batches(zip(read(part.source), read(part.target), strict=True))


def _read_whole(files):
    with errors_of_users(), contextlib.ExitStack() as copies:
        lists = [
            [str(copies.enter_context(local_copy(address))) for address in addresses]
            for addresses in (files.source, files.target, files.pairs)
        ]
        yield from read_batches(PairFiles(*lists, files.columns, files.named))
