"""Files of sentence pairs: tables, TMX and the Moses archives of OPUS."""

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from kformer.files import check_file
from kformer.text.tables import Row, ending, read_table
from kformer.text.text_files import decoded
from kformer.text.tmx import read_tmx

_MOSES = re.compile(r".*\.([\w]+)-([\w]+)\.([\w]+)")  # "Tatoeba.de-en.en"


def read_bitext(
    file: str | Path, columns: Sequence[str], *, named: bool = False
) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a file: (source, target).

    A name that ends in ".tmx" (or ".tmx.gz", ".tmx.xz") is that of a TMX file; one that ends in
    ".zip" is that of a Moses archive, which has a text file for each language. Others are tables;
    see `read_table`.

    Args:
        file: A path.
        columns: Names of the columns of source and target; in TMX and Moses archives their
            languages, such as "de" and "en".
        named: Whether `columns` are the user's choice. If not, the languages of TMX and Moses
            archives are those of the file, in its order.

    Raises:
        See `read_table` and `read_tmx`. ValueError: The file is not a zip archive, or it does not
            hold one text file for each of the languages.
    """
    return (row.values for row in numbered_bitext(file, columns, named=named))


def numbered_bitext(
    file: str | Path, columns: Sequence[str], *, named: bool = False
) -> Iterator[Row]:
    """Yields the pairs of a file, as `read_bitext`, each with its line, or in TMX its number."""
    readers = {".tmx": read_tmx, ".zip": _read_moses}
    if (form := ending(file)) not in readers:
        return read_table(file, columns, named=named)
    pairs = readers[form](file, columns if named else None)
    return (Row(pair, number) for number, pair in enumerate(pairs, start=1))


def _read_moses(file, languages):
    check_file(file)
    name = repr(str(file))
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive.namelist(), languages, name)
            with archive.open(members[0]) as source, archive.open(members[1]) as target:
                sides = (
                    decoded(lines, f"{member!r} of {name}")
                    for member, lines in zip(members, (source, target), strict=True)
                )
                yield from _in_parallel(*sides, name)
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"A Moses archive must be a zip file. Received: {name} ({error})."
        ) from error


def _in_parallel(source, target, name):
    try:
        yield from zip(source, target, strict=True)
    except ValueError as error:
        if "zip()" not in str(error):
            raise
        raise ValueError(
            f"The texts of a Moses archive must have as many lines. Received: {name}."
        ) from error


def _members(names, languages, file):
    """Returns the names of the two text files in an archive."""
    found = {}  # (first language, second language) -> language -> name
    for name in names:
        if (match := _MOSES.fullmatch(name)) and match[3] in match.groups()[:2]:
            found.setdefault(match.groups()[:2], {})[match[3]] = name
    whole = {pair: texts for pair, texts in found.items() if len(texts) == 2}
    for pair, texts in whole.items():
        if len(whole) == 1 and languages is None:
            return [texts[language] for language in pair]
        if languages is not None and {*languages} == {*pair}:
            return [texts[language] for language in languages]
    listed = ", ".join("-".join(pair) for pair in whole) or "no pair of languages"
    raise ValueError(
        "A Moses archive must have files that end in '.de-en.de' and '.de-en.en', or in those of "
        f"other languages; `columns` chooses them. Received: {file}, which holds {listed}, for "
        f"columns={languages}."
    )
