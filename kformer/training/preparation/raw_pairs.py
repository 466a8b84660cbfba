"""Files of pairs as batches of pairs, in memory that does not depend on their size."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.files import check_file
from kformer.text.bitexts import read_bitext
from kformer.text.text_files import as_list, on_one_line, read_lines
from kformer.training.data.pairs import check_parallel, checked_columns

BATCH = 20_000  # Pairs, or fewer, if they have so many characters:
BATCH_CHARACTERS = 2**25

_NOT_TEXT = re.compile(r"[\W_]+")

Paths = str | Path | Sequence[str | Path]


def compared(line: str) -> str:
    """Returns a line without case, spaces and punctuation, in which texts are looked for.

    A line without letters and digits only loses spaces that are too many.
    """
    return letters_of(line) or " ".join(line.split())


def letters_of(line: str) -> str:
    """Returns the words of a line in one case, with a space between two; "" if it has none."""
    return _NOT_TEXT.sub(" ", line.casefold()).strip()


class Pairs(NamedTuple):
    """Sentence pairs: element n of `target` translates element n of `source`."""

    source: list[str]
    target: list[str]

    def keep(self, chosen: Any) -> "Pairs":
        """Returns the pairs whose element of `chosen`, a boolean array, is true."""
        return Pairs(*([*itertools.compress(side, chosen)] for side in self))


class PairFiles(NamedTuple):
    """Files of pairs.

    Attributes:
        source, target: Lists of paths of parallel text files.
        pairs: List of paths of files that hold both sides, which `read_bitext` reads.
        columns: Names of the columns of these files, as for `split_pairs`.
        named: Whether `columns` are the user's choice.
    """

    source: list[str]
    target: list[str]
    pairs: list[str]
    columns: tuple[str, str]
    named: bool

    def paths_by_name(self) -> dict[str, list[str]]:
        """Returns the lists of paths that are not empty, by name."""
        named = {"source": self.source, "target": self.target, "pairs": self.pairs}
        return {name: paths for name, paths in named.items() if paths}


def pair_files(
    source: Paths | None,
    target: Paths | None,
    pairs: Paths | None,
    columns: Sequence[str] | None,
    check: Callable[[str], None] = check_file,
) -> PairFiles:
    """Checks that files exist and belong together."""
    source, target, pairs = (
        as_list([] if files is None else files) for files in (source, target, pairs)
    )
    if len(source) != len(target) or not (source or pairs):
        raise ValueError(
            "Pairs come from source files, each with its target file, or from files of pairs. "
            f"Received: {source=}, {target=}, {pairs=}."
        )
    for file in (*source, *target, *pairs):
        check(file)
    return PairFiles(source, target, pairs, checked_columns(columns), columns is not None)


def read_batches(files: PairFiles, size: int = BATCH) -> Iterator[Pairs]:
    """Yields the pairs of all files, `size` of them at a time, or fewer, if they are long."""
    parts = [
        *itertools.starmap(_side_by_side, zip(files.source, files.target, strict=True)),
        *(_table_pairs(file, files) for file in files.pairs),
    ]
    yield from in_batches(itertools.chain.from_iterable(parts), size)


def in_batches(pairs: Iterable[tuple[str, str]], size: int = BATCH) -> Iterator[Pairs]:
    """Yields pairs, `size` of them at a time, or as many as have `BATCH_CHARACTERS`."""
    batch, characters = Pairs([], []), 0
    for source, target in pairs:
        batch.source.append(source)
        batch.target.append(target)
        characters += len(source) + len(target)
        if len(batch.source) == size or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = Pairs([], []), 0
    if batch.source:
        yield batch


def _table_pairs(file, files):
    for pair in read_bitext(file, files.columns, named=files.named):
        yield tuple(map(on_one_line, pair))


def _side_by_side(source, target):
    for pair in itertools.zip_longest(read_lines(source), read_lines(target)):
        if None in pair:
            check_parallel(source, target)  # Raises an error with the numbers of lines.
        yield pair
