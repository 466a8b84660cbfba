"""The report on the translation of a document."""

import dataclasses
from typing import NamedTuple


class Unplaced(NamedTuple):
    """A text of a document that stays as it was.

    Attributes:
        line: Number of its line; of its paragraph, in a file without lines.
        text: The text.
        reason: Why its translation could not be placed.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("de-en.tflite")
        >>> [(markup, report)] = kformer.translate_markup(["<b>Ein Hund</b> läuft."], translator)
        >>> report.unplaced  # A tuple of `Unplaced`: here, all texts have their places.
        ()
    """

    line: int
    text: str
    reason: str


@dataclasses.dataclass(frozen=True)
class DocumentTranslation:
    """A report on the translation of a document.

    Attributes:
        kind: Kind of the document, such as "html".
        segments: Number of texts that were translated.
        distinct: Number of texts that differ, which is what the translator was asked for.
        characters: Number of characters of all texts.
        unplaced: Texts that stay as they were, because their translation could not be placed.
        flags: Lines with faults of their translations, each with the flags that
            `kformer.Translation` explains.

    Examples:
        >>> from pathlib import Path
        >>> import kformer
        >>> _ = Path("page.html").write_text("<p>Ein <b>Hund</b> läuft.</p>", encoding="utf-8")
        >>> translator = kformer.load("de-en.tflite")
        >>> report = kformer.translate_document("page.html", translator, "english.html")
        >>> report.kind, report.segments, report.unplaced
        ('html', 1, ())
        >>> Path("english.html").read_text(encoding="utf-8")
        '<p>A <b>dog</b> runs.</p>'
    """

    kind: str
    segments: int
    distinct: int
    characters: int
    unplaced: tuple[Unplaced, ...]
    flags: tuple[tuple[int, tuple[str, ...]], ...]
