"""The characters of many texts: which are letters, and of which script.

All texts are looked up in one table, character by character in NumPy.
"""

import functools
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np

_IGNORED, _OTHER = 0, 1  # Kinds of characters that are no letters; letters have greater ones.
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")  # First words of names that do not name a script.
_HAN = dict.fromkeys(("CJK", "IDEOGRAPHIC", "KANGXI"), "HAN")  # First words, and the script.


class Letters:
    """Counts letters, and those of some scripts.

    Args:
        scripts: Names of scripts in Unicode, such as "Latin", in any case.

    Raises:
        ValueError: There is no such script.
    """

    def __init__(self, scripts: Collection[str] = ()):
        table, names = _kinds()
        unknown = [name for name in scripts if name.strip().upper() not in names]
        if unknown:
            raise ValueError(
                "A script must be one of Unicode's, such as Latin, Cyrillic, Arabic or Han. "
                f"Received: {unknown[0]!r}."
            )
        self._table = table
        self._chosen = np.zeros(_OTHER + 1 + len(names), bool)
        self._chosen[[names[name.strip().upper()] for name in scripts]] = True

    def count(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns numbers of each text, int64 (N,): characters without spaces, letters, chosen.

        Marks, such as vowel signs, count as letters of their script; marks of no script count as
        nothing. "chosen" are the letters of the scripts.
        """
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
        starts = np.concatenate([[0], ends[:-1]])
        joined = "\n".join([*texts, ""]).encode("utf-32-le")
        kinds = self._table[np.frombuffer(joined, np.uint32)]
        wanted = (kinds != _IGNORED, kinds > _OTHER, self._chosen[kinds])
        return tuple(np.add.reduceat(one, starts, dtype=np.int64) for one in wanted)


@functools.cache
def _kinds():
    """Returns the kind of each character, uint16 (0x110000,), and kinds of letters by script."""
    table = np.full(0x110000, _OTHER, np.uint16)
    names = {}
    for number in range(0x110000):
        character = chr(number)
        category = unicodedata.category(character)
        if category[0] in "ZC":
            table[number] = _IGNORED
        elif category[0] in "LM":
            script = _script(character)
            new = _OTHER + 1 + len(names)
            table[number] = names.setdefault(script, new) if script else _IGNORED
    return table, names


def _script(character):
    """Returns the first word of a character's name, which is its script; None for other marks."""
    first, *rest = unicodedata.name(character, "UNKNOWN").split(" ", 2)
    if first in _WIDTHS:
        first = rest[0]
    if first in ("COMBINING", "MODIFIER", "VARIATION"):
        return None
    return _HAN.get(first, first).replace("-", " ").split()[0]
