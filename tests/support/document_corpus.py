"""Translates the documents of a folder by functions, and counts what their translations lose.

    PYTHONPATH=tests python -m support.document_corpus FOLDER [--translator rev] [--format docx]

prints tables by format. A translator is one of `TRANSLATORS`; by default `identity`, which shows
whether the bytes stay, and `rev` and `letters`, after which links, placeholders, elements and words
are counted by `support.document_contents`. `--details FILE` writes each loss with its texts.
"""

import argparse
import collections
import contextlib
import dataclasses
import functools
import re
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from kformer.documents.document_translation import translate_content
from support.document_contents.readers import READERS, read_pair
from support.document_contents.units import Unit

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абцдефгхийклмнопщрстувшжыз"
_EXCHANGED = str.maketrans(_LATIN + _LATIN.upper(), _CYRILLIC + _CYRILLIC.upper())
_HOSTILE = (
    "</b><script>alert(1)</script>",
    "]]></w:t></w:p><w:p>",
    "- # > 1. `x` | [a](b) **c**",
    "\"quoted\" 'and' \\ \\u0041 \\n %s {evil} <%= x %>",
    "&lt;b&gt; &amp;lt; &#60;",
    "1\n00:00:01,000 --> 00:00:02,000\nX\n\n",
    'msgid "x"\nmsgstr "y"',
    "\u202eabc\u2066 \x0b \x01 \ud800",
    "",
    "x" * 5000,
)
FORMATS = {
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".po": "gettext",
    ".pot": "gettext",
    ".xlf": "xliff",
    ".xliff": "xliff",
    ".xml": "android",
    ".strings": "apple",
    ".xcstrings": "apple",
    ".arb": "json",
    ".srt": "subtitles",
    ".vtt": "subtitles",
}
LANGUAGES = {"source_language": "en", "target_language": "mk"}
WORD = re.compile(r"[^\W_]+")


def exchange_letters(text: str) -> str:
    """Returns a text with a Cyrillic letter for each Latin one, accents dropped."""
    if text.isascii():
        return text.translate(_EXCHANGED)
    return "".join(map(_exchanged_letter, text))


@functools.cache
def _exchanged_letter(character):
    return (
        unicodedata.normalize("NFD", character)[0].translate(_EXCHANGED)
        if (unicodedata.name(character, "").startswith("LATIN"))
        else character
    )


def _hostile(texts):
    return [_HOSTILE[len(text) % len(_HOSTILE)] for text in texts]


Translator = Callable[[list[str]], list[str]]
TRANSLATORS: dict[str, Translator] = {
    "identity": list,
    "rev": lambda texts: [" ".join(reversed(text.split())) for text in texts],
    "letters": lambda texts: [exchange_letters(text) for text in texts],
    "empty": lambda texts: [""] * len(texts),
    "hostile": _hostile,
}
COUNTED = (*Unit.KINDS, "words")


@dataclasses.dataclass
class Loss:
    """Parts of a unit that its translation lacks, or has although the source does not.

    Attributes:
        kind: A kind of `Unit.KINDS`, "words", "glued" or "added".
        parts: The parts.
        before, after: The unit and its translation.
    """

    kind: str
    parts: list[str]
    before: Unit
    after: Unit


@dataclasses.dataclass
class Comparison:
    """How much of a document is in its translation.

    Attributes:
        total, kept: Numbers of parts, by kind of `COUNTED`.
        unchanged: Words that are as in the source.
        losses: `Loss`.
    """

    total: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    kept: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    unchanged: int = 0
    losses: list[Loss] = dataclasses.field(default_factory=list)


def compare(before: list[Unit], after: list[Unit], with_words: bool = True) -> Comparison:
    """Compares the units of a document with those of its translation, pair by pair.

    Args:
        before, after: Units of `read_pair`.
        with_words: Whether the translation has each word of its source.
    """
    comparison = Comparison()
    if len(before) != len(after):
        before, after = [_joined(before)], [_joined(after)]
    for source, target in zip(before, after, strict=True):
        for kind in Unit.KINDS:
            _count(comparison, kind, source, target, source.counts[kind], target.counts[kind])
            added = target.counts[kind] - source.counts[kind]
            if added and kind in ("placeholders", "elements", "links"):
                comparison.losses.append(Loss("added", [*added.elements()], source, target))
        if with_words:
            _compare_words(comparison, source, target)
    return comparison


def _count(comparison, kind, source, target, wanted, actual):
    lost = wanted - actual
    comparison.total[kind] += wanted.total()
    comparison.kept[kind] += wanted.total() - lost.total()
    if lost:
        comparison.losses.append(Loss(kind, [*lost.elements()], source, target))


def _compare_words(comparison, source, target):
    wanted, actual = _words(source.text), _words(target.text)
    _count(comparison, "words", source, target, wanted, actual)
    glued = [word for word in actual - wanted if _is_glued(word, wanted)]
    if glued:
        comparison.losses.append(Loss("glued", glued, source, target))
    comparison.unchanged += sum(
        (collections.Counter(WORD.findall(target.text)) & _latin_words(source)).values()
    )


def _words(text):
    return collections.Counter(exchange_letters(word).casefold() for word in WORD.findall(text))


def _is_glued(word, words):
    return any(word[:end] in words and word[end:] in words for end in range(1, len(word)))


def _latin_words(unit):
    """Counts the words of a unit that `letters` would change, without its placeholders."""
    text = unit.text
    for placeholder in sorted(unit.counts["placeholders"], key=len, reverse=True):
        text = text.replace(placeholder, " ")
    return collections.Counter(
        word for word in WORD.findall(text) if re.search("[A-Za-z]", word) and not word.isdigit()
    )


def _joined(units):
    """Returns a single unit with the contents of all."""
    joined = Unit(" ".join(unit.text for unit in units), "(the whole document)")
    for unit in units:
        for kind, counter in unit.counts.items():
            joined.counts[kind].update(counter)
    return joined


@dataclasses.dataclass
class Tally:
    """What became of the documents of a format.

    Attributes:
        files, read, same, faulty: Numbers of documents: all, translated, equal to their sources,
            and with a translation that is malformed.
        refused: How often each reason was given.
        comparison: The sum of all comparisons.
        segments, unplaced: Numbers of texts, and of those that stayed.
        bytes, seconds: Size of the documents that were translated, and CPU time.
    """

    files: int = 0
    read: int = 0
    same: int = 0
    faulty: int = 0
    refused: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    comparison: Comparison = dataclasses.field(default_factory=Comparison)
    segments: int = 0
    unplaced: int = 0
    bytes: int = 0
    seconds: float = 0.0


def format_name(path: Path) -> str:
    """Returns the name of a document's format, for the tables."""
    suffix = path.suffix.lower()
    return FORMATS.get(suffix, suffix[1:])


def check_document(path: Path, translator: str, tally: Tally) -> list[Loss]:
    """Translates a document, adds what became of it to a tally, and returns its losses."""
    before, start = path.read_bytes(), time.process_time()
    tally.files += 1
    # A language that becomes another one changes a document, too.
    languages = {} if translator == "identity" and path.suffix != ".xcstrings" else LANGUAGES
    try:
        after, report = translate_content(before, path.name, TRANSLATORS[translator], **languages)
    except Exception as error:
        tally.refused[_reason(error, path)] += 1
        return []
    tally.seconds += time.process_time() - start
    tally.read, tally.bytes = tally.read + 1, tally.bytes + len(before)
    tally.segments += report.segments
    tally.unplaced += len(report.unplaced)
    tally.same += before == after
    try:
        read_pair(path.name, before, before)
    except ValueError as error:
        tally.refused[f"not checked: {error}"[:90]] += 1
        return []
    try:
        pair = read_pair(path.name, before, after)
    except ValueError as error:
        tally.faulty += 1
        return [Loss("malformed", [str(error)], Unit(), Unit())]
    comparison = compare(*pair, with_words=translator in ("identity", "rev", "letters"))
    tally.comparison.total += comparison.total
    tally.comparison.kept += comparison.kept
    tally.comparison.unchanged += comparison.unchanged
    tally.comparison.losses += comparison.losses
    return comparison.losses


def _reason(error, path):
    text = " ".join(str(error).replace(path.name, "FILE").split())
    place = ""
    if not isinstance(error, ValueError):
        place = f" at {traceback.extract_tb(error.__traceback__)[-1].name}"
    return f"{type(error).__name__}{place}: {text}"[:100]


def print_table(translator: str, tallies: dict[str, Tally]):
    """Prints what became of each format under a translator."""
    headings = ["format", "files", "read", "same", "malformed", "segments", "unplaced"]
    headings += [*COUNTED, "glued", "added", "unchanged", "KB/s"]
    rows = [headings]
    for name, tally in sorted(tallies.items()):
        comparison, parts = tally.comparison, collections.Counter()
        for loss in comparison.losses:
            parts[loss.kind] += len(loss.parts)
        numbers = tally.files, tally.read, tally.same, tally.faulty, tally.segments, tally.unplaced
        shares = [_share(comparison.kept[kind], comparison.total[kind]) for kind in COUNTED]
        unchanged = str(comparison.unchanged) if translator == "letters" else "-"
        speed = tally.bytes / 1000 / max(tally.seconds, 1e-3)
        rows.append([name, *map(str, numbers), *shares])
        rows[-1] += [str(parts["glued"]), str(parts["added"]), unchanged, f"{speed:.0f}"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\ntranslator: {translator}")
    for row in rows:
        cells = [
            cell.ljust(width) if not index else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))
    for name, tally in sorted(tallies.items()):
        for reason, number in tally.refused.most_common():
            print(f"  {name}: {number} x {reason}")


def _share(kept, total):
    return f"{kept}/{total}" if total else "-"


def _print_losses(file, path, translator, losses):
    for loss in losses:
        print(f"{path}\t{translator}\t{loss.kind}\t{loss.parts[:20]!r:.600}", file=file)
        for name, unit in (("before", loss.before), ("after ", loss.after)):
            print(f"    {name} {' '.join(unit.raw.split())!r:.900}", file=file)


def documents(folder: Path, formats: Iterable[str] = ()) -> list[Path]:
    """Returns the documents in a folder, and in those within it."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in READERS)
    return [path for path in files if not formats or format_name(path) in formats]


def main(arguments: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--translator", choices=TRANSLATORS, action="append")
    parser.add_argument("--format", action="append", default=[])
    parser.add_argument("--details", type=Path, help="file for each loss with its texts")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as files:
        details = options.details and files.enter_context(
            options.details.open("w", encoding="utf-8")
        )
        for translator in options.translator or ("identity", "rev", "letters"):
            tallies = collections.defaultdict(Tally)
            for path in documents(options.folder, options.format):
                losses = check_document(path, translator, tallies[format_name(path)])
                if details:
                    _print_losses(details, path.name, translator, losses)
            print_table(translator, tallies)


if __name__ == "__main__":
    main()
