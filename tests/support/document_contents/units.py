"""The texts of a document, with whatever must stay in them."""

import collections
import dataclasses
import re
from collections.abc import Callable

from support.document_contents.placeholder_patterns import split_choices

GAP = "\ufffc"  # Stands in a text for whatever is no text: an image, a field, code.
LETTER = re.compile(r"[^\W\d_]")


class Unit:
    """A text that is translated by itself, with whatever must stay in it.

    Attributes:
        text: The text, with `GAP` for whatever is no text.
        counts: A counter for each kind of `KINDS`.
        raw: Characters of the document, for people to read.
    """

    KINDS = ("links", "placeholders", "elements", "emphasis", "code", "entries")

    def __init__(
        self, text: str = "", raw: str | Callable[[], str] = "", pattern: re.Pattern | None = None
    ):
        self.text = text
        self._raw = raw
        self.counts = {kind: collections.Counter() for kind in self.KINDS}
        if pattern:
            self.find_placeholders(pattern)

    def add(self, kind: str, name: str):
        self.counts[kind][name] += 1

    def find_placeholders(self, pattern: re.Pattern):
        signs, text = split_choices(self.text)
        self.counts["placeholders"].update(signs)
        self.counts["placeholders"].update(match[0] for match in pattern.finditer(text))

    @property
    def raw(self) -> str:
        return self._raw if isinstance(self._raw, str) else self._raw()

    @raw.setter
    def raw(self, value):
        self._raw = value


Pair = tuple[list[Unit], list[Unit]]


@dataclasses.dataclass
class Span:
    """An open element, and whether it has text and letters so far."""

    name: str
    target: str | None = None
    has_text: bool = False
    has_letters: bool = False


def names(text: str) -> frozenset[str]:
    """Returns the words of a text."""
    return frozenset(text.split())


def decoded(content: bytes) -> str:
    """Returns the characters of a document, by its mark or by the encoding that it declares."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(encoding)
    declared = re.search(rb"charset\s*=\s*[\"']?([\w-]+)|encoding=[\"']([\w-]+)", content[:2048])
    names = [(declared[1] or declared[2]).decode()] if declared else []
    for encoding in (*names, "utf-8"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            pass
    return content.decode("latin-1")
