"""Beam transforms that read files of pairs, and drop equal pairs and near-duplicates.

Plain parallel text is read in blocks, each by any worker. Other files (compressed text, tables,
TMX, archives) are read whole, each by one worker.

A pair is in one of 256 groups, by the first bits of its hash; one worker has a group in memory, and
returns its pairs in the order of their hashes. The rules are the same as in
`kformer.training.preparation`: any one of several equal pairs stays, and of near-duplicates the
pair with the smallest hash, so the order of the text does not matter.

Axes: N pairs.
"""

import contextlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np

from kformer.scale.addresses import local_copy
from kformer.scale.line_blocks import Lines, LineTable, blocks_of, count, is_compressed, read
from kformer.scale.runner import errors_of_users
from kformer.training.preparation.near_duplicates import not_smallest
from kformer.training.preparation.raw_pairs import PairFiles, in_batches, read_batches
from kformer.training.preparation.spill import different, group_of
from kformer.training.shards.shard_file import Rows

_PIECE = 50_000  # Pairs of an element: runners do not take elements of any size.


class Packed(NamedTuple):
    """Some pairs as bytes.

    Attributes:
        group: Number of the group of pairs.
        place: Number of the first pair within the group.
        lengths, ids: Bytes of the arrays of `Rows`.
    """

    group: int
    place: int
    lengths: bytes
    ids: bytes

    def rows(self, dtype: Any) -> Rows:
        """Returns the pairs, whose ids have this `dtype`."""
        lengths = np.frombuffer(self.lengths, np.int32).reshape(-1, 2)
        return Rows(lengths, np.frombuffer(self.ids, dtype))


class FindNearDuplicates(beam.PTransform):
    """Transform from (number, bands as bytes) to (group, hashes of pairs to drop as bytes)."""

    def expand(self, bands: Any):
        return (
            bands
            | "ByBand" >> beam.GroupByKey()
            | "NotSmallest" >> beam.FlatMap(_to_drop).with_output_types(tuple[int, bytes])
        )


class Different(beam.PTransform):
    """Transform from (group, pairs as bytes) to the different pairs.

    Args:
        dtype: NumPy's type of the ids.
        dropped: Output of `FindNearDuplicates`, or None.

    Returns:
        pairs: `Packed`.
        sizes: (group, number of its pairs).
        near: Number of near-duplicates in each group.
    """

    def __init__(self, dtype: Any, dropped: Any = None):
        super().__init__()
        self._dtype, self._dropped = dtype, dropped

    def expand(self, pairs: Any):
        dropped = self._dropped
        if dropped is None:
            dropped = pairs.pipeline | "NothingToDrop" >> beam.Create([]).with_output_types(
                tuple[int, bytes]
            )
        outputs = (
            {"pairs": pairs, "dropped": dropped}
            | "ByHash" >> beam.CoGroupByKey()
            | "Different"
            >> beam.ParDo(_Different(self._dtype)).with_outputs("sizes", "near", main="pairs")
        )
        return outputs.pairs, outputs.sizes, outputs.near


def _to_drop(element):
    _, contents = element
    hashes = not_smallest(contents)
    groups = group_of(hashes)
    for group in np.unique(groups).tolist():
        yield group, hashes[groups == group].tobytes()


class _Different(beam.DoFn):
    def __init__(self, dtype: Any):
        self._dtype = dtype

    def process(self, element: Any):
        group, values = element
        dropped = np.frombuffer(b"".join(values["dropped"]), np.uint64)
        dropped = np.unique(dropped)
        rows = different(values["pairs"], self._dtype, dropped)
        yield beam.pvalue.TaggedOutput("sizes", (group, len(rows.lengths)))
        yield beam.pvalue.TaggedOutput("near", len(dropped))
        for place in range(0, len(rows.lengths), _PIECE):
            piece = rows.take(slice(place, place + _PIECE))
            yield Packed(group, place, piece.lengths.tobytes(), piece.ids.tobytes())


def parts_of(sizes: dict[int, int], pairs: int) -> dict[int, int]:
    """Returns the part of each group, as `Spill.parts` divides."""
    parts, part, pairs_in_part = {}, 0, 0
    for group, size in sorted(sizes.items()):
        parts[group] = part
        pairs_in_part += size
        if pairs_in_part >= pairs:
            part, pairs_in_part = part + 1, 0
    return parts


def in_order(pieces: Iterable[Packed], dtype: Any) -> list[Rows]:
    """Returns the pairs of several elements in the order of their hashes."""
    return [packed.rows(dtype) for packed in sorted(pieces, key=lambda packed: packed[:2])]


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
        self._whole += [
            files._replace(source=[], target=[], pairs=[table]) for table in files.pairs
        ]

    def expand(self, begin: Any):
        collections = []
        if self._split:
            blocks = [
                (pair, side, block)
                for pair in self._split
                for side, file in enumerate(pair)
                for block in blocks_of(file)
            ]
            collections.append(
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
            collections.append(
                begin
                | "Files" >> beam.Create(self._whole)
                | "SpreadFiles" >> beam.Reshuffle()
                | "ReadFiles" >> beam.FlatMap(_read_whole)
            )
        return collections | beam.Flatten()


class _Part(NamedTuple):
    """Lines of both files of a pair."""

    source: Lines
    target: Lines


def _counted(element):
    files, side, block = element
    return files, (side, count(block))


def _parts(files, counted):
    """Yields parts of two files with the same lines; the source's blocks are the measure."""
    counted = [*counted]
    source, target = (
        LineTable(block for side, block in counted if side == which) for which in (0, 1)
    )
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
