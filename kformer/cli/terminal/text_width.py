"""The columns of a terminal that a text fills, in tables that hold text of users."""

import unicodedata


def width_of(text: str) -> int:
    """Returns the number of columns of a text: two for a wide character, none for a mark.

    The widths are those of [Unicode's Annex 11](https://www.unicode.org/reports/tr11/).
    """
    return sum(map(_width, text))


def _width(character):
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # Drawn over its neighbours.
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def left(text: str, width: int) -> str:
    """Returns the text with spaces after it, up to `width` columns."""
    return text + " " * (width - width_of(text))


def right(text: str, width: int) -> str:
    """Returns the text with spaces before it, up to `width` columns."""
    return " " * (width - width_of(text)) + text
