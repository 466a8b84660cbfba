"""Gettext's `.po`: each msgid is translated into its msgstr, if that is empty.

The library polib wraps lines anew and drops blank ones, so catalogs are read line by line here, by
the grammar of [PO files](https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, Segment

_LINE = re.compile(
    r"[ \t]*(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d{1,3})\])?[ \t]*)?"
    r'"((?:[^"\\\r\n]|\\.)*+)"[ \t]*\Z'
)
_CHARSET = re.compile(rb"\"Content-Type:[^\"\n]*charset=([\w.:-]+)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"'} | {text: f"\\{name}" for name, text in _CHARACTERS.items()}
)


class Message(NamedTuple):
    """A keyword with its string, which may have several lines.

    Attributes:
        keyword: "msgid", "msgstr" and so on.
        form: Number of the plural form of a msgstr, or None.
        start: The place of its first quotation mark.
        end: The place behind its last one.
        text: The string.
        line: Number of its first line.
    """

    keyword: str
    form: str | None
    start: int
    end: int
    text: str
    line: int


def declared_encoding(content: bytes) -> str | None:
    """Returns the charset of the catalog's header."""
    declared = _CHARSET.search(content[: 2**16])
    name = declared[1].decode("ascii", "replace") if declared else None
    return None if name == "CHARSET" else name  # A template has none yet.


def messages(text: str, name: str) -> Iterator[Message]:
    """Yields the strings of a catalog, without obsolete ones."""
    message, place, strings = None, 0, []  # The strings of its lines.
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.rstrip("\r").removeprefix("\ufeff" if number == 1 else "")
        match = _LINE.match(bare)
        if not match and bare.strip() and not bare.lstrip().startswith("#"):
            raise _malformed(name, number, bare)
        if match:
            start = place + line.index('"')
            end = place + line.rindex('"') + 1
            string = unescape(match[3])
            if match[1]:
                if message:
                    yield message._replace(text="".join(strings))
                message = Message(match[1], match[2], start, end, string, number)
                strings = [string]
            elif message:
                message = message._replace(end=end)
                strings.append(string)
            else:
                raise _malformed(name, number, bare)
        elif message:
            yield message._replace(text="".join(strings))
            message = None
        place += len(line) + 1
    if message:
        yield message._replace(text="".join(strings))


def _malformed(name, number, line):
    return ValueError(
        'A line of a catalog must be blank, a comment, or a keyword such as msgid with a "string". '
        f"Received: {line!r:.60} in {name}, line {number}."
    )


def unescape(raw: str) -> str:
    """Returns the text of a string without its quotation marks."""

    def character(match):
        if match[1] or match[2]:
            return chr(int(match[1], 8) if match[1] else int(match[2], 16))
        return _CHARACTERS.get(match[3], match[3])

    return _ESCAPE.sub(character, raw)


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the pieces of a catalog."""
    done = 0
    sources: dict[str, str] = {}
    entry: list[Message] = []
    write = _writer("\r\n" if "\r\n" in text else "\n")
    for message in messages(text, options.name):
        if message.keyword in ("msgctxt", "msgid") and entry:
            sources, entry = {}, []
        if message.keyword != "msgstr":
            sources[message.keyword] = message.text
            continue
        entry.append(message)
        plural = message.form not in (None, "0")
        source = sources.get("msgid_plural" if plural else "msgid", "")
        if message.text or not sources.get("msgid") or not source:
            continue
        yield text[done : message.start]
        raw = text[message.start : message.end]
        yield Segment(message.start, message.line, raw, (source,), write, inserted=True)
        done = message.end
    yield text[done:]


def _writer(line_end):
    def write(chunks: list[Chunk]):
        text = "".join(chunk.content for chunk in chunks)
        *whole, last = text.split("\n")
        texts = [*(f"{line}\n" for line in whole), *filter(None, [last])]
        lines = [f'"{line.translate(_ESCAPES)}"' for line in texts]
        return line_end.join(['""', *lines] if len(lines) > 1 else lines or ['""'])

    return write
