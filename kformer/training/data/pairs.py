"""Pairs of sentences from files, tables and Python objects, as parallel text files.

Line n of a target file translates line n of its source file.
"""

import functools
import hashlib
import math
import os
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, NamedTuple

from kformer.files import check_file
from kformer.text.bitexts import read_bitext
from kformer.text.long_lines import is_too_long
from kformer.text.tables import as_text, values_of, write_columns
from kformer.text.text_files import as_list, read_lines

COLUMNS = ("source", "target")  # Of a table or of records, unless others are named.


class ParallelText(NamedTuple):
    """Parallel text files, and the user's files that they were made from.

    Attributes:
        source, target: Lists of paths; line n of a target file translates line n of its source
            file.
        paths: Lists of paths by the name of the user's argument: "source" and "target", or "pairs".
        recorded: Whether `paths` still exist when the process has ended.
        directions: The direction of each pair of files, such as "de-en"; empty if there is only
            one, whose languages need no names.
        shown: How to show each file that was made from something else, by its path.
    """

    source: list[str]
    target: list[str]
    paths: dict[str, list[str]]
    recorded: bool = True
    directions: Sequence[str] = ()
    shown: Mapping[str, str] = {}

    def one_by_one(self) -> "list[ParallelText]":
        """Returns each pair of files as a text of its own."""
        directions = [[name] for name in self.directions] or [[]] * len(self.source)
        return [
            self._replace(source=[source], target=[target], directions=direction)
            for source, target, direction in zip(self.source, self.target, directions, strict=True)
        ]


def split_pairs(
    pairs: str | Path | Iterable[Any], columns: Sequence[str] | None = None
) -> tuple[list[str], list[str]]:
    """Writes pairs as parallel text files, which are deleted when the process ends.

    So functions of text files, such as `kformer.Tokenizer.train`, take text from anywhere. Line
    ends within a sentence become spaces.

    Args:
        pairs: A path, or a list of paths, of tables: TSV, CSV with a header, JSON lines or TMX,
            UTF-8; plain or compressed; or Moses archives (`.zip`). Or the pairs themselves: an
            iterable of (source, target) tuples or of dicts, such as a list or a data set of Hugging
            Face's `datasets`; a `tf.data.Dataset` of either; or columns of text: a DataFrame of
            pandas or Polars, a table of PyArrow, or a dict of lists.
        columns: Names of the columns of source and target in tables and dicts; "a.b" is the value
            "b" of the dict "a". By default "source" and "target". A TSV file may lack a header;
            then its first two columns are used. Of TMX and Moses archives they are the languages.

    Returns:
        source_files: list of paths, one for each table.
        target_files: list of paths.

    Raises:
        FileNotFoundError, ValueError: A table is missing, malformed or lacks a column (the message
            contains the line); there are no pairs; or they can be read only once.
        TypeError: An element is not a pair, or `pairs` cannot be iterated.

    Examples:
        >>> from pathlib import Path
        >>> from kformer.training import split_pairs
        >>> pairs = [("Ein Hund läuft.", "A dog runs."), ("Wir warten.", "We wait.")]
        >>> sources, targets = split_pairs(pairs)
        >>> Path(targets[0]).read_text()
        'A dog runs.\\nWe wait.\\n'
    """
    source, target, *_ = parallel_text(pairs=pairs, columns=columns)
    return source, target


def parallel_text(
    source: str | Path | Sequence[str | Path] | None = None,
    target: str | Path | Sequence[str | Path] | None = None,
    pairs: str | Path | Iterable[Any] | None = None,
    columns: Sequence[str] | None = None,
    kind: str = "",
) -> ParallelText:
    """Returns parallel text that is given as files of each side, or as pairs.

    Args:
        source, target: A path or a list of paths each; or None.
    """
    if pairs is None:
        source, target = (as_list([] if side is None else side) for side in (source, target))
        return ParallelText(source, target, {"source": source, "target": target})
    if source or target:
        raise ValueError(
            f"Text is given as `{kind}source` and `{kind}target`, or as `{kind}pairs`, not as "
            f"both. Received: {kind}source={source}, {kind}target={target} and {kind}pairs."
        )
    names = checked_columns(columns)
    if isinstance(pairs, str | os.PathLike) or _are_paths(pairs):
        tables = as_list(pairs)
        sides = [_split(file, names, columns is not None, *_state(file)) for file in tables]
        source, target = map(list, zip(*sides, strict=True))
        shown = _shown(source, target, tables)
        return ParallelText(source, target, {"pairs": tables}, shown=shown)
    paths = write_columns(_read_again(pairs, names), COLUMNS)
    if not Path(paths[0]).stat().st_size:
        raise ValueError(f"There must be pairs. Received: {kind}pairs={reprlib.repr(pairs)}.")
    shown = _shown(paths[:1], paths[1:], ["the pairs"])
    return ParallelText(paths[:1], paths[1:], {"pairs": paths}, recorded=False, shown=shown)


def _shown(source, target, names):
    return {path: name for side in (source, target) for path, name in zip(side, names, strict=True)}


def _elements(dataset):
    """Yields the elements of a `tf.data.Dataset` as NumPy arrays.

    Fetching an element takes 0.1 ms, so scalars are fetched a thousand at a time.
    """
    if not _are_scalars(dataset.element_spec):
        yield from dataset.as_numpy_iterator()
        return
    for chunk in dataset.batch(1000).as_numpy_iterator():
        yield from _rows(chunk)


def _are_scalars(spec):
    if isinstance(spec, dict):
        spec = (*spec.values(),)
    if isinstance(spec, tuple):
        return all(map(_are_scalars, spec))
    return getattr(spec, "shape", None) == ()


def _rows(chunk):
    """Yields the elements of a batch: of an array, or of tuples and dicts of arrays."""
    if isinstance(chunk, dict):
        return (dict(zip(chunk, row, strict=True)) for row in _rows((*chunk.values(),)))
    return zip(*map(_rows, chunk), strict=True) if isinstance(chunk, tuple) else iter(chunk)


def checked_columns(columns: Sequence[str] | None) -> tuple[str, str]:
    """Returns the names of source and target; raises ValueError if they are not two."""
    if columns is None:
        return COLUMNS
    is_text = isinstance(columns, str)
    columns = (columns,) if is_text else tuple(columns)
    if len(columns) != 2 or not all(isinstance(name, str) and name for name in columns):
        raise ValueError(
            f"`columns` must be the names of source and target. Received: columns={columns!r}."
        )
    return columns


def _are_paths(pairs):
    """Whether these are paths of tables; an empty list is an empty list of pairs."""
    is_list = isinstance(pairs, list | tuple) and pairs
    return is_list and isinstance(pairs[0], str | os.PathLike)


def _state(file):
    check_file(file)
    state = Path(file).stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


@functools.lru_cache
def _split(file, columns, named, *_state):
    """Splits a table; one that has not changed is split once per process."""
    return write_columns(read_bitext(file, columns, named=named), COLUMNS)


def _table(pairs) -> Iterable[Any] | None:
    """Returns the rows of a table of columns, a DataFrame or a dict; None for anything else."""
    if isinstance(pairs, Mapping):
        if any(
            hasattr(dataset, "column_names") or hasattr(dataset, "columns")
            for dataset in pairs.values()
        ):
            return _only_dataset(pairs)
        columns = dict(pairs)
    elif hasattr(pairs, "to_pydict"):  # PyArrow.
        columns = pairs.to_pydict()
    elif hasattr(pairs, "columns") and hasattr(pairs, "shape"):  # pandas, Polars.
        columns = {name: pairs[name] for name in pairs.columns}
    else:
        return None
    lengths = {name: _length(column) for name, column in columns.items()}
    if None in lengths.values() or len({*lengths.values()}) > 1:
        raise ValueError(
            "The columns of a table must be lists of as many texts. "
            f"Received: pairs={reprlib.repr(pairs)}, with columns of the lengths {lengths}."
        )
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _length(column):
    """Returns the length of a list of texts; None if it is none."""
    return None if isinstance(column, str | bytes) or not isinstance(column, Sized) else len(column)


def _only_dataset(pairs):
    """Returns the rows of the only data set in a dict, as Hugging Face has them."""
    if len(pairs) > 1:
        raise ValueError(
            "Choose one of several data sets, such as pairs=data['train']. "
            f"Received: pairs with the data sets {', '.join(map(repr, pairs))}."
        )
    [dataset] = pairs.values()
    table = _table(dataset)
    return dataset if table is None else table


def _read_again(pairs, columns) -> Iterator[Sequence[str]]:
    """Yields pairs of strings from an iterable that can be read again."""
    if isinstance(pairs, Iterator):
        raise ValueError(
            "Pairs must be readable more than once, so that a run can be resumed: give a list, a "
            "data set, or an object whose `__iter__` begins anew. "
            f"Received: pairs={reprlib.repr(pairs)}, of type {type(pairs).__name__}."
        )
    if hasattr(pairs, "as_numpy_iterator"):  # A `tf.data.Dataset`, without importing TensorFlow.
        if int(pairs.cardinality()) == -1:
            raise ValueError(f"Pairs must come to an end. Received: pairs={pairs}, without one.")
        pairs = _elements(pairs)
    elif (table := _table(pairs)) is not None:
        pairs = table
    elif not isinstance(pairs, Iterable):
        raise TypeError(
            "`pairs` must be paths of tables or an iterable of pairs. "
            f"Received: {reprlib.repr(pairs)}, of type {type(pairs).__name__}."
        )
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, Mapping):
            yield values_of(pair, columns, f"pair {number}")
        elif isinstance(pair, tuple | list) and len(pair) == 2:
            yield [
                as_text(text, f"{name} of pair {number}")
                for name, text in zip(COLUMNS, pair, strict=True)
            ]
        else:
            raise TypeError(
                "A pair must be a (source, target) tuple, or a dict with these columns. "
                f"Received: {reprlib.repr(pair)} as pair {number}, of type {type(pair).__name__}."
            )


def count_lines(file: str | Path) -> int:
    """Counts the lines of a text file; raises the errors of `read_lines`.

    A file that has not changed is read once per process.
    """
    return _counts(file)[0]


def checksum_of_text(file: str | Path) -> str:
    """Returns the SHA-256 of the bytes of a text file, in hexadecimal, as `count_lines`."""
    return _counts(file)[2]


def count_long_lines(file: str | Path) -> int:
    """Counts the lines of more than `kformer.text.long_lines.LONGEST` bytes, as `count_lines`."""
    return _counts(file)[1]


def _counts(file):
    check_file(file)
    state = Path(file).stat()
    return _count(file, state.st_ino, state.st_size, state.st_mtime_ns)


@functools.lru_cache
def _count(file, *_state):
    lines, too_long, digest = 0, 0, hashlib.sha256()
    for line in read_lines(file, digest=digest):
        lines += 1
        too_long += is_too_long(line)
    return lines, too_long, digest.hexdigest()


def check_parallel(
    source_files: str | Path | Iterable[str | Path],
    target_files: str | Path | Iterable[str | Path],
) -> int:
    """Checks that files have as many lines as their translations; returns the number of pairs.

    Args:
        source_files, target_files: A path or a list of paths each; the n-th target file
            translates the n-th source file.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The numbers of lines differ, or a file is empty or not UTF-8.

    Examples:
        >>> from kformer.training import check_parallel
        >>> check_parallel("test.de", "test.en")
        500
    """
    return sum(count_pairs(source_files, target_files))


def count_pairs(
    source_files: str | Path | Iterable[str | Path],
    target_files: str | Path | Iterable[str | Path],
) -> list[int]:
    """Counts the pairs of each two files, with the arguments and errors of `check_parallel`."""
    source_files, target_files = as_list(source_files), as_list(target_files)
    if len(source_files) != len(target_files) or not source_files:
        raise ValueError(
            "Every source file needs its target file. "
            f"Received: {len(source_files)} source and {len(target_files)} target files."
        )
    pairs = []
    for source, target in zip(source_files, target_files, strict=True):
        lines = count_lines(source), count_lines(target)
        if lines[0] != lines[1]:
            raise ValueError(
                "Parallel files must have as many lines. "
                f"Received: {lines[0]} in {source!r}, {lines[1]} in {target!r}."
            )
        pairs.append(lines[0])
    return pairs


def check_weights(
    corpora: int, weights: Sequence[float] | None = None, temperature: float | None = None
):
    """Raises ValueError if `weights` or `temperature` cannot apply to `corpora` corpora."""
    if weights is not None and temperature is not None:
        raise ValueError(
            "Corpora are mixed by `weights` or by `temperature`, not by both. "
            f"Received: weights={weights}, temperature={temperature}."
        )
    if temperature is not None and not 0 < temperature < math.inf:
        raise ValueError(f"`temperature` must be over 0. Received: temperature={temperature}.")
    if weights is not None and (
        len(weights) != corpora or not all(1e-6 <= weight < math.inf for weight in weights)
    ):
        raise ValueError(
            "`weights` must have a positive number for each pair of files. "
            f"Received: weights={weights} for {corpora} pairs of files."
        )


def corpus_weights(
    pairs: list[int],
    weights: Sequence[float] | None = None,
    temperature: float | None = None,
    groups: Sequence[str] | None = None,
) -> list[float]:
    """Returns how often a pass reads each corpus, rounded to six decimals."""
    check_weights(len(pairs), weights, temperature)
    if temperature is not None:
        names = range(len(pairs)) if groups is None else groups
        sizes: Counter = Counter()
        for name, number in zip(names, pairs, strict=True):
            sizes[name] += number
        most = max(sizes.values())
        drawn = {name: (size / most) ** (1 / temperature) for name, size in sizes.items()}
        scale = sum(pairs) / sum(drawn.values())
        weights = [scale * drawn[name] / sizes[name] for name in names]
    elif weights is None:
        weights = [1.0] * len(pairs)
    return [round(weight, 6) for weight in weights]
