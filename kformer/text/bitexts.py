"""Files of sentence pairs: tables, TMX and the Moses archives of OPUS."""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kformer.archives import Archive
from kformer.files import check_file
from kformer.text.long_lines import lines_of
from kformer.text.tables import Row, ending, read_table
from kformer.text.text_files import decoded
from kformer.text.tmx import read_tmx

_MOSES = re.compile(r"(.*)\.([\w]+)-([\w]+)\.([\w]+)")  # "Tatoeba.de-en.en"


def read_bitext(
    file: str | Path, columns: Sequence[str], *, named: bool = False
) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a file: (source, target).

    A file named ".tmx" (or ".tmx.gz", ".tmx.xz") is a TMX file. A file named ".zip" is a Moses
    archive, which has a text file for each language, of one corpus or of several, which are read
    one after another. All others are tables, as for `read_table`. A text that is too long to be
    read is replaced by one that is longer than `kformer.text.long_lines.LONGEST`.

    Args:
        named: Whether `columns` are the user's choice. If not, the languages of TMX and Moses
            archives are taken from the file, in its order.
    """
    rows = numbered_bitext(file, columns, named=named)
    return ((source, target) for (source, target), _ in rows)


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
    with Archive(file, "A Moses archive must be a zip file.") as archive:
        for members in _members(archive.names(), languages, name):
            with archive.open(members[0]) as source, archive.open(members[1]) as target:
                sides = (
                    decoded(lines_of(content), f"{member!r} of {name}")
                    for member, content in zip(members, (source, target), strict=True)
                )
                yield from _in_parallel(*sides, f"{name}, {members[0]!r}")


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
    """Returns a pair of names, of source and target, for each corpus in an archive.

    Args:
        languages: Of source and target; None for the languages of an archive with one pair.
    """
    texts_of = {}  # languages -> corpus, "Tatoeba" of "Tatoeba.de-en.en" -> language -> name
    for name in names:
        if (match := _MOSES.fullmatch(name)) and match[4] in match.groups()[1:3]:
            corpora = texts_of.setdefault(match.groups()[1:3], {})
            corpora.setdefault(match[1], {}).setdefault(match[4], []).append(name)
    chosen = [pair for pair in texts_of if languages is None or {*pair} == {*languages}]
    if len(chosen) != 1:
        listed = ", ".join("-".join(pair) for pair in texts_of) or "no pair of languages"
        raise ValueError(
            "A Moses archive must have files that end in '.de-en.de' and '.de-en.en', or in those "
            f"of other languages; `columns` chooses them. Received: {file}, which holds {listed}, "
            f"for columns={languages}."
        )
    [pair] = chosen
    for corpus, texts in texts_of[pair].items():
        if any(len(texts.get(language, ())) != 1 for language in pair):
            raise ValueError(
                "Each corpus in a Moses archive must have one text for each language. Received: "
                f"{file}, with {', '.join(map(repr, itertools.chain(*texts.values())))} of "
                f"{corpus!r}."
            )
    return [
        [texts[language][0] for language in languages or pair] for texts in texts_of[pair].values()
    ]
