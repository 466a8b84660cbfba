"""Parts of all pictures: a font, lines between cells, and the way they are saved.

They need matplotlib and no window: every function that draws returns a new `Figure`.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import font_manager
from matplotlib.figure import Figure

from kformer.files import replacing
from kformer.kinds import any_of

FONT = "DejaVu Sans"  # Part of matplotlib; has umlauts and SentencePiece's "▁".
_PER_GLYPH = 10  # Characters that share a glyph on average, in a font of placeholders.
SUFFIXES = (".pdf", ".png", ".svg")


def check_picture(path: str | Path) -> None:
    """Raises ValueError unless a picture can have this name."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"A picture's name must end in {any_of([*SUFFIXES])}. Received: path={str(path)!r}."
        )


def save_figure(figure: Figure, path: str | Path) -> None:
    """Writes `figure` as PNG, SVG or PDF, by the suffix of `path`, completely or not at all."""
    check_picture(path)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150, bbox_inches="tight", pad_inches=0.1)


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Returns the names of installed fonts that together have all characters of the texts.

    matplotlib keeps a list of fonts from its first use. Fonts that are missing in it are looked for
    before a character is refused, so a font that was installed since then is found.
    """
    characters = {character for text in texts for character in text}
    missing = {mark for mark in characters if mark.isprintable() and not mark.isspace()}
    missing -= _characters(font_manager.findfont(FONT))
    fonts = [FONT]
    missing = _cover(missing, fonts)
    if missing and _list_new_fonts():
        missing = _cover(missing, fonts)
    if missing:
        shown = ", ".join(f"{mark!r} (U+{ord(mark):04X})" for mark in sorted(missing)[:5])
        raise ValueError(
            "A picture needs a font with the characters of the text: install one, such as Noto "
            "Sans for their script; or `kformer attention --html`, whose page has the fonts of the "
            f"browser. Received: {shown}, which no installed font has."
        )
    return fonts


def _cover(missing, fonts):
    """Adds listed fonts to `fonts` for the missing characters; returns those still missing."""
    for font in sorted(font_manager.fontManager.ttflist, key=lambda font: font.name):
        if not missing:
            break
        if covered := missing & _characters(font.fname):
            fonts.append(font.name)
            missing = missing - covered
    return missing


def _list_new_fonts():
    """Adds installed fonts that matplotlib's list lacks; returns whether there were any."""
    listed = font_manager.fontManager.ttflist
    number = len(listed)
    for path in {*font_manager.findSystemFonts()} - {font.fname for font in listed}:
        with suppress(OSError, RuntimeError, ValueError):  # Fonts that matplotlib cannot read.
            font_manager.fontManager.addfont(path)
    return len(listed) > number


def _characters(path):
    """Returns the characters of a font; none for a font that matplotlib cannot read.

    None either for a font like "Last Resort" of matplotlib and macOS, with a few boxes for all.
    """
    try:
        glyphs = font_manager.get_font(path).get_charmap()
    except (OSError, RuntimeError, ValueError):
        return set()
    return {*map(chr, glyphs)} if len(glyphs) < _PER_GLYPH * len({*glyphs.values()}) else set()


def ink_on(color: Any) -> str:
    """Returns "black" or "white", whichever has more contrast on a colour: 4.5 to 1 at least.

    Args:
        color: Red, green and blue from 0 to 1, and maybe alpha.

    The contrast is defined by [WCAG 2.2](https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
    """
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3]
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def rule(ax: Any, rows: Any, columns: Any):
    """Draws fine lines between the cells, and no tick marks."""
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.88", linewidth=0.5)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_color("0.7")
