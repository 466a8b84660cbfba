"""A text file as numbered lines, read by many workers."""

import apache_beam as beam

from kformer.scale.addresses import local_copy
from kformer.scale.blocks import Table, blocks_of, count, is_compressed, read
from kformer.scale.runner import errors_of_users
from kformer.text.text_files import read_lines

_BLOCK = 2**20  # Bytes: a worker translates some thousand lines, then takes the next.


class ReadLines(beam.PTransform):
    """Begins a pipeline with the lines of a text: (number from 0, text), in any order.

    Args:
        file: Its address; plain text is read in blocks, each by any worker.
    """

    def __init__(self, file: str):
        super().__init__()
        self._file = file

    def expand(self, begin):
        if is_compressed(self._file):
            return begin | "File" >> beam.Create([self._file]) | beam.FlatMap(_numbered)
        return (
            begin
            | "Blocks" >> beam.Create([*blocks_of(self._file, _BLOCK)])
            | "SpreadBlocks" >> beam.Reshuffle()
            | "CountLines" >> beam.Map(lambda block: (block.file, count(block)))
            | "ByFile" >> beam.GroupByKey()
            | "Divide" >> beam.FlatMapTuple(lambda file, counted: Table(counted).parts(file))
            | "SpreadParts" >> beam.Reshuffle()
            | "ReadParts" >> beam.FlatMap(_read_part)
        )


def _numbered(file):
    with errors_of_users(), local_copy(file) as path:
        yield from enumerate(read_lines(path))


def _read_part(part):
    with errors_of_users():
        yield from enumerate(read(part), part.first)
