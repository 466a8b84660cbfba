"""Android's strings.xml: strings, the items of arrays and of plurals, with Android's escapes."""

import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Piece, Role, SegmentBuilder, collapsed, escaping, paired
from kformer.documents.xml_tokens import (
    ENCODING_ERRORS,
    declared_encoding,
    xml_escape,
    xml_tokens,
    xml_unescape,
)

__all__ = ["ENCODING_ERRORS", "declared_encoding", "read"]
_STRINGS = {"string", "item"}
_ARRAYS = {"string-array", "array", "plurals"}  # Items of a style, for instance, are values.
_BREAK = "br"
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_CHARACTERS = {"n": "\n", "t": "\t"}
_RESOURCE = re.compile(r"[@?][\w.:+/-]+")  # A reference such as "@string/name".
_QUOTE = re.compile(r'(?<!\\)"')
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the segments of a document."""
    builder = SegmentBuilder(text, _unescape, _writer)
    open_names: list[tuple[str, bool]] = []  # With whether the text is translated.
    open_strings = 0
    for token in xml_tokens(text, options.name):
        if token.kind == "start" and not open_names and token.name != "resources":
            raise ValueError(
                "Strings of Android must have the root <resources>. "
                f"Received: {options.name}, with the root <{token.name:.60}>."
            )
        is_inside = open_strings > 0
        open_strings += (token.name in _STRINGS) * {"start": 1, "end": -1}.get(token.kind, 0)
        is_translated = bool(open_names) and open_names[-1][1]
        if token.kind == "start":
            attributes = token.attributes or {}
            kept = attributes.get("translatable") == "false" or (is_inside and token.name == "g")
            kept = kept or (token.name == "item" and not _is_text(attributes, open_names[-1][0]))
            open_names.append((token.name, (is_translated or len(open_names) == 0) and not kept))
        elif token.kind == "end":
            open_names.pop()
        if token.kind in ("open-cdata", "close-cdata"):
            _switch(builder, token)
        elif token.kind in ("text", "cdata"):
            _add_text(builder, text, token, is_inside, is_translated)
        elif token.name in _STRINGS or not is_inside:
            builder.end_segment()
        elif token.name == _BREAK and token.kind == "start" and is_translated:
            builder.code(token.start, token.end, shown=" ")
        elif token.name == _BREAK and token.kind == "end":
            builder.hidden(token.start, token.end)
        elif token.kind in ("start", "end") and is_translated and open_names[-1][1]:
            role = Role.OPEN if token.kind == "start" else Role.CLOSE
            builder.code(token.start, token.end, role, token.name)
        else:
            builder.hidden(token.start, token.end)
        yield from builder.take()
    yield from builder.finish()


def _is_text(attributes, parent):
    """Returns whether an item with some attributes, of a parent element, is a text."""
    return parent in _ARRAYS or attributes.get("type") == "string"


def _switch(builder, token):
    if token.kind == "open-cdata":
        builder.switch(_without_escapes, lambda _: _writing(str))
    else:
        builder.switch(_unescape, _writer)


def _add_text(builder, text, token, is_inside, is_translated):
    if not is_inside:
        builder.end_segment()
        return
    is_reference = _RESOURCE.fullmatch(text[token.start : token.end].strip())
    if is_reference or not is_translated:
        shown = xml_unescape(text[token.start : token.end])
        builder.hidden(token.start, token.end, shown)
        return
    done = token.start
    for quote in _QUOTE.finditer(text, token.start, token.end):  # They keep white space.
        if done < quote.start():
            builder.text(done, quote.start())
        builder.hidden(*quote.span())
        done = quote.end()
    if done < token.end:
        builder.text(done, token.end)


def _unescape(raw):
    return _without_escapes(xml_unescape(raw))


def _without_escapes(text):
    def character(match):
        if match[1]:
            return chr(int(match[1], 16))
        return _CHARACTERS.get(match[2], match[2])

    return paired(_ESCAPE.sub(character, collapsed(text)))


def _writer(raw):
    return _writing(xml_escape(raw))


def _writing(escape):
    """Returns a `Write`; only at the beginning of a string do "@" and "?" mean a resource."""
    write = escaping(lambda text: escape(text.translate(_ESCAPES)))

    def written(chunks):
        begins = chunks and not chunks[0].is_code and chunks[0].content.startswith(("@", "?"))
        return "\\" * bool(begins) + write(chunks)

    return written
