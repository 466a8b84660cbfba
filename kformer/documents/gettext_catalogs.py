"""Gettext's `.po`: each msgid is translated into its msgstr, if that is empty.

A template, `.pot`, becomes a catalog of the target language, if that is known: its header gets the
language with its plural forms, and each message has as many of them.

The library polib wraps lines anew and drops blank ones, so catalogs are read line by line here, by
the grammar of [PO files](https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html).
"""

import dataclasses
import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.plural_forms import plural_forms, singular_form
from kformer.documents.segments import Chunk, Piece, Segment

_PO_LINE = re.compile(
    r"[ \t]*(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d{1,3})\])?[ \t]*)?"
    r'"((?:[^"\\\r\n]|\\.)*+)"[ \t]*\Z'
)
_CHARSET = re.compile(rb"\"Content-Type:[^\"\n]*charset=([\w.:-]+)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"'} | {text: f"\\{name}" for name, text in _CHARACTERS.items()}
)


# The syntax of the placeholders for a flag such as "qt-format"; that of other flags is C's.
_SYNTAXES = {
    "qt": "qt",
    "qt-plural": "qt",
    "kde": "qt",
    "kde-kuit": "qt",
    "java": "brace",
    "csharp": "brace",
    "python-brace": "brace",
    "perl-brace": "brace",
    "rust": "brace",
    "lisp": "lisp",
    "scheme": "lisp",
}
_FORMAT = re.compile(r"(no-|possible-|impossible-)?([a-z-]{1,30})-format")
_TEMPLATE_FORMS = re.compile(r"nplurals=INTEGER; ?plural=EXPRESSION;?")
_FORMS = re.compile(
    r"Plural-Forms:[ \t]*nplurals[ \t]*=[ \t]*(\d)[ \t]*;[ \t]*plural[ \t]*=([^;]*)"
)
_LANGUAGE = re.compile(r"(?<![\w-])Language:[ \t]*([\w@.-]*)(?=\\n|\")")


@dataclasses.dataclass(slots=True)
class Message:
    """A keyword with its string, which may have several lines.

    Attributes:
        keyword: "msgid", "msgstr" and so on.
        form: Number of the plural form of a msgstr, or None.
        begin: The place of its first line.
        start: The place of its first quotation mark.
        end: The place behind its last one.
        text: The string.
        line: Number of its first line.
        flags: The flags before it, such as "fuzzy".
        flags_place: The place behind the "#," of the last ones, or None.
    """

    keyword: str
    form: str | None
    begin: int
    start: int
    end: int
    text: str
    line: int
    flags: tuple[str, ...] = ()
    flags_place: int | None = None


def declared_encoding(content: bytes) -> str | None:
    """Returns the charset of the catalog's header."""
    declared = _CHARSET.search(content[: 2**16])
    name = declared[1].decode("ascii", "replace") if declared else None
    return None if name == "CHARSET" else name  # A template has none yet.


def messages(text: str, name: str) -> Iterator[Message]:
    """Yields the strings of a catalog, without obsolete ones."""
    message, place, strings = None, 0, []  # The strings of its lines.
    flags: list[str] = []
    flags_place = None
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.rstrip("\r").removeprefix("\ufeff" if number == 1 else "")
        match = _PO_LINE.match(bare)
        if not match and bare.strip() and not bare.lstrip().startswith("#"):
            raise _malformed(name, number, bare)
        if not match or match[1]:
            if message:
                message.text = "".join(strings)
                yield message
            message = None
        if match:
            start = place + line.index('"')
            end = place + line.rindex('"') + 1
            string = unescape(match[3])
            if match[1]:
                message = Message(match[1], match[2], place, start, end, string, number)
                message.flags, message.flags_place = tuple(flags), flags_place
                strings, flags, flags_place = [string], [], None
            elif message:
                message.end = end
                strings.append(string)
            else:
                raise _malformed(name, number, bare)
        elif bare.startswith("#~"):  # They were flags of an obsolete message.
            flags, flags_place = [], None
        elif bare.startswith("#,"):
            flags += [flag.strip() for flag in bare[2:].split(",")]
            flags_place = place + line.index("#,") + 2
        place += len(line) + 1
    if message:
        message.text = "".join(strings)
        yield message


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
    reader = _CatalogReader(text, options)
    for entry in _entries(messages(text, options.name)):
        yield from reader.pieces(entry)
    yield text[reader.done :]


def _entries(messages) -> Iterator[list[Message]]:
    """Yields the strings of each message, from its context or its msgid to its last msgstr."""
    entry: list[Message] = []
    for message in messages:
        begins = message.keyword == "msgctxt" or (
            message.keyword == "msgid" and (len(entry) != 1 or entry[0].keyword != "msgctxt")
        )
        if begins and entry:
            yield entry
            entry = []
        entry.append(message)
    if entry:
        yield entry


class _CatalogReader:
    """Reads the entries of a catalog.

    Attributes:
        done: The place behind what was read.
    """

    def __init__(self, text: str, options: ReadOptions):
        self._text, self._options = text, options
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._write = _writer(self._end)
        self._syntax = "strings"
        self._number: int | None = None  # Of the plural forms that every message gets.
        self._singular: int | None = 0  # The form for the number 1.
        self.done = 0

    def pieces(self, entry: list[Message]) -> Iterator[Piece]:
        """Yields the characters up to the end of an entry, and its segments."""
        sources = {each.keyword: each.text for each in entry}
        strings = [each for each in entry if each.keyword == "msgstr"]
        if not sources.get("msgid"):
            if strings and "msgctxt" not in sources and not self.done:
                yield from self._header(entry[0], strings[0])
            return
        empty = [each for each in strings if not each.text]
        if not empty:
            return
        has_all_forms = "msgid_plural" in sources and len(empty) == len(strings) and self._number
        if self._options.fuzzy and "fuzzy" not in entry[0].flags:
            yield from self._marked_as_fuzzy(entry[0])
        syntax = self._syntax_of(entry[0].flags)
        for each in empty[: self._number] if has_all_forms else empty:
            source = self._source(sources, each.form)
            if not source:
                continue
            yield self._text[self.done : each.start]
            yield self._segment(each, source, syntax, self._text[each.start : each.end])
            self.done = each.end
        if has_all_forms:
            yield from self._missing_forms(sources, strings, syntax)

    def _segment(self, message, source, syntax, raw):
        place, line = message.start, message.line
        return Segment(place, line, raw, (source,), self._write, inserted=True, syntax=syntax)

    def _source(self, sources, form):
        is_singular = form is None or int(form) == self._singular
        return sources.get("msgid" if is_singular else "msgid_plural", "")

    def _missing_forms(self, sources, strings, syntax):
        """Yields the forms that the target language has, and drops those that it lacks."""
        for form in range(len(strings), self._number):
            yield self._text[self.done : strings[-1].end]
            self.done = strings[-1].end
            yield f"{self._end}msgstr[{form}] "
            source = self._source(sources, str(form))
            yield self._segment(strings[-1], source, syntax, '""')
        for extra in strings[self._number :]:
            yield self._text[self.done : extra.begin].removesuffix("\n").removesuffix("\r")
            self.done = extra.end

    def _marked_as_fuzzy(self, first):
        if first.flags_place is not None:
            yield self._text[self.done : first.flags_place]
            yield " fuzzy,"
            self.done = first.flags_place
        else:
            yield self._text[self.done : first.begin]
            yield f"#, fuzzy{self._end}"
            self.done = first.begin

    def _syntax_of(self, flags):
        """Returns the syntax of the placeholders of a message with some flags."""
        formats = [match for flag in flags if (match := _FORMAT.fullmatch(flag))]
        declared = [match[2] for match in formats if not match[1]]
        if declared:
            syntaxes = [_SYNTAXES.get(name, "printf") for name in declared]
            return "printf" if "printf" in syntaxes else syntaxes[0]
        return "none" if any(match[1] == "no-" for match in formats) else self._syntax

    def _header(self, first, message):
        """Yields the header, with the language and its plural forms if it lacks them."""
        raw = self._text[message.start : message.end]
        if "drupal" in message.text.lower():
            self._syntax = "drupal"
        name = self._options.name.strip("'\"").lower()
        is_template = (
            name.endswith(".pot") or "charset=CHARSET" in raw or bool(_TEMPLATE_FORMS.search(raw))
        )
        if self._options.target_language is not None:
            yield from self._without_fuzzy(first, is_template)
            yield self._text[self.done : message.start]
            raw = self._localized_header(raw, is_template)
            yield raw
            self.done = message.end
        declared = _FORMS.search(raw)
        number = int(declared[1]) if declared else 0
        if declared and number:
            self._number = number if is_template else None
            self._singular = singular_form(declared[2].strip(), number)

    def _without_fuzzy(self, first, is_template):
        """Yields the comments before the header, without the flag `fuzzy` of a template."""
        if not is_template or "fuzzy" not in first.flags or first.flags_place is None:
            return
        start = first.flags_place - len("#,")
        stop = self._text.index("\n", start) + 1
        flags = [flag for flag in first.flags if flag != "fuzzy"]
        yield self._text[self.done : start]
        yield f"#, {', '.join(flags)}{self._end}" if flags else ""
        self.done = stop

    def _localized_header(self, raw, is_template):
        """Returns the raw header of a catalog for that of a template."""
        language = self._options.target_language.replace("-", "_")
        source = (self._options.source_language or "").replace("-", "_")

        def field(match):
            return f"Language: {language}" if match[1] in ("", source) else match[0]

        raw = raw.replace("charset=CHARSET", "charset=UTF-8")
        raw = _TEMPLATE_FORMS.sub(plural_forms(language), _LANGUAGE.sub(field, raw), count=1)
        added = []
        if is_template and "Language:" not in raw:
            added.append(f"Language: {language}")
        if is_template and "Plural-Forms:" not in raw and "msgid_plural" in self._text:
            added.append(f"Plural-Forms: {plural_forms(language)}")
        return raw + "".join(f'{self._end}"{field}\\n"' for field in added)


def _writer(line_end):
    def write(chunks: list[Chunk]):
        text = "".join(chunk.content for chunk in chunks)
        *whole, last = text.split("\n")
        texts = [*(f"{line}\n" for line in whole), *filter(None, [last])]
        lines = [f'"{line.translate(_ESCAPES)}"' for line in texts]
        return line_end.join(['""', *lines] if len(lines) > 1 else lines or ['""'])

    return write
