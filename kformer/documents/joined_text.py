"""The text of a segment over its codes, in which placeholders are sought.

Word parts `{{ name }}` into runs as it likes, and Angular has elements inside a plural. So texts
are joined over codes, and a part of the joined text has the codes inside it.
"""

import bisect
import itertools
from collections.abc import Sequence

from kformer.documents.segments import Code

SEPARATOR = "\x1f"  # White space for a pattern, so that no address or number goes on behind it.
_LINKS = {"a", "text:a", "w:hyperlink"}  # An address ends where its link does.


class JoinedText:
    """The texts of a segment's parts as one.

    A code that shows a text, or is the end of a link, is a `SEPARATOR` in it. Other codes take no
    room.

    Args:
        parts: Texts and codes.

    Attributes:
        text: The joined text.
    """

    def __init__(self, parts: Sequence[str | Code]):
        self._parts = parts
        texts = [_room_of(part) for part in parts]
        self.text = "".join(texts)
        self._is_plain = len(parts) == 1 and isinstance(parts[0], str)
        self._ends = [*itertools.accumulate(map(len, texts))]

    def cut(
        self, start: int, stop: int, first: bool = False, last: bool = False
    ) -> list[str | Code]:
        """Returns the texts and codes between two places.

        Args:
            start, stop: Places in `text`.
            first, last: Whether codes without room at `start`, and at `stop`, are among them.
        """
        if self._is_plain:
            return [self.text[start:stop]] if start < stop else []
        pieces: list[str | Code] = []
        for index in range(bisect.bisect_left(self._ends, start), len(self._parts)):
            part, end = self._parts[index], self._ends[index]
            begin = self._ends[index - 1] if index else 0
            if begin > stop:
                break
            if isinstance(part, str):
                pieces += filter(None, [part[max(start - begin, 0) : max(stop - begin, 0)]])
            elif begin < end:
                pieces += [part] if start <= begin < stop else []
            elif start < begin < stop or (first and begin == start) or (last and begin == stop):
                pieces.append(part)
        return pieces


def _room_of(part):
    if isinstance(part, str):
        return part
    return SEPARATOR if part.shown or part.name in _LINKS else ""


def shown_text(parts: Sequence[str | Code]) -> str:
    """Returns texts with the shown texts of the codes among them."""
    return "".join(part if isinstance(part, str) else part.shown for part in parts)
