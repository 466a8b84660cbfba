"""The built-in text: German-English pairs, and English reviews with labels.

It needs no download, and it is the same on all machines. The German sentences have exactly one
translation each, and a review's label follows from the order of its words, so a perfect model makes
no mistakes. `phrasebook` and `reviews` return the text, `write` and `write_reviews` write it to
files for training. All of it lies in `phrasebook.xz` beside this module.
"""

import functools
import lzma
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kformer.files import replacing

LABELS = ("negative", "positive")
# Words that can turn a review's meaning around. A bag of words cannot tell what they turn.
TURNING = {"not", "never", "nobody", "less", "but", "although"}

_FILE = Path(__file__).with_suffix(".xz")


class Pair(NamedTuple):
    """A German sentence and its English translation."""

    source: str
    target: str


class Phrasebook(NamedTuple):
    """Four lists of pairs; no source sentence occurs twice.

    Attributes:
        train, valid, test: Parts of the same distribution.
        unseen: Sentences that each combine a noun with a verb or an adjective that no sentence of
            the other parts combines.
    """

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    unseen: list[Pair]


class Review(NamedTuple):
    """An English sentence and its label, one of `LABELS`."""

    label: str
    text: str


class Reviews(NamedTuple):
    """Four lists of reviews; no text occurs twice.

    Attributes:
        train, valid, test: Parts of the same distribution.
        unseen: Reviews that each have a pair of construction and adjective that no review of the
            other parts has.
    """

    train: list[Review]
    valid: list[Review]
    test: list[Review]
    unseen: list[Review]


def phrasebook() -> Phrasebook:
    """Returns the German-English pairs."""
    return Phrasebook(**_parts("pairs", Pair))


def reviews() -> Reviews:
    """Returns the reviews with their labels."""
    return Reviews(**_parts("reviews", Review))


def write(folder: str | os.PathLike) -> dict[str, Path]:
    """Writes the phrasebook as parallel text files, UTF-8, with one sentence per line.

    Each file appears completely or not at all.
    """
    paths = {}
    for part, pairs in phrasebook()._asdict().items():
        for language, sentences in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            name = f"{part}.{language}"
            paths[name] = _write_lines(Path(folder) / name, sentences)
    return paths


def write_reviews(folder: str | os.PathLike) -> dict[str, Path]:
    """Writes each part of the reviews as a file of labelled text, such as `train.tsv`.

    Each file appears completely or not at all.
    """
    return {
        part: _write_lines(Path(folder) / f"{part}.tsv", map("\t".join, examples))
        for part, examples in reviews()._asdict().items()
    }


def _parts(corpus, kind):
    """Returns the lists of one corpus by the names of its parts."""
    parts = {}
    for name, part, *fields in _rows():
        if name == corpus:
            parts.setdefault(part, []).append(kind(*fields))
    return parts


@functools.cache
def _rows() -> list[list[str]]:
    """Returns [corpus, part, field, field] of each line of the file."""
    text = lzma.decompress(_FILE.read_bytes()).decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def _write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        text = "".join(f"{line}\n" for line in lines)
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
