"""YAML of programs, such as Rails: strings that are values; keys, comments and styles stay.

PyYAML reads a document and tells the places of its scalars. A single key at the root that is a
language, as in Rails, becomes the target language if that is known.
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

import yaml

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.segments import Chunk, Piece, Segment

MOST_LEVELS = 1000  # Of open mappings and sequences.
_STRING = "tag:yaml.org,2002:str"
_PROPERTY = re.compile(r"[&!][^\s,\[\]{}]*+\s*+(?:#[^\r\n]*+\s*+)?")  # An anchor or a tag.
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_](?:[A-Za-z]{2,4}|\d{3})){0,3}")
_HEADER = re.compile(r"[|>][-+0-9]{0,2}[ \t]*+(?:#[^\r\n]*+)?(?:\r\n?|\n)")
_BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n?|\n))*+")
_SYMBOL = re.compile(r":[A-Za-z_]\w*")  # Of Ruby, as in `order: [:year, :month]`.
_DATE = re.compile(r"(?:%[-_0^#:]{0,3}[A-Za-z%]|[^\w%]|[\d_])*+")  # As in "%d %B %Y".
_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_SHORT = 2  # Letters of most codes of languages.
_WORDS = {"y", "n"}  # Readers of YAML 1.1 other than PyYAML take them for booleans.


def declared_encoding(_content: bytes) -> None:
    """Returns None: YAML is in UTF-8, or has a byte order mark."""


class _Scalar(NamedTuple):
    """A string of a document.

    Attributes:
        start, end: Its place, without an anchor.
        value: Its value.
        style: `yaml.ScalarEvent.style`: a quotation mark, "|", ">" or None.
        is_in_flow: Whether it is within brackets or braces.
        has_members: Whether it is the key of a mapping.
        key: The key at the root whose value it is, "" for one that stands deeper.
    """

    start: int
    end: int
    value: str
    style: str | None
    is_in_flow: bool
    has_members: bool = False
    key: str = ""


class _Collection:
    """A mapping or a sequence that is open.

    Attributes:
        is_mapping: Whether it is a mapping.
        is_translated: Whether its strings are, which are none of a key.
        is_in_flow: Whether it is within brackets or braces.
        number: Number of its members so far; keys and values each count.
    """

    def __init__(self, is_mapping: bool, is_translated: bool, is_in_flow: bool):
        self.is_mapping, self.is_translated = is_mapping, is_translated
        self.is_in_flow, self.number = is_in_flow, 0


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the values of a document."""
    try:
        scalars, roots = _strings(text, options.name)
    except yaml.YAMLError as error:
        why = " ".join(str(error).split())
        raise ValueError(f"A document must be YAML. Received: {options.name} ({why}).") from error
    pieces: list[tuple[int, int, str | Segment]] = []
    if len(roots) == 1 and (name := _new_root(roots[0], options)):
        pieces.append((roots[0].start, roots[0].end, name))
    done, line = 0, 1
    for scalar in scalars:
        line += text.count("\n", done, scalar.start)
        done = scalar.start
        segment = _segment(text, scalar, line)
        pieces.append((segment.place, segment.place + len(segment.raw), segment))
    done = 0
    for start, end, piece in sorted(pieces, key=lambda piece: piece[0]):
        yield from (text[done:start], piece)
        done = end
    yield text[done:]


def segments_of_keys(text: str, keys: Collection[str]) -> list[Segment]:
    """Returns the segments of strings with one of some keys at the root; none if it is no YAML."""
    try:
        strings, _ = _strings(text, "")
    except (yaml.YAMLError, ValueError):
        return []
    chosen = [scalar for scalar in strings if scalar.key in keys]
    return [_segment(text, each, 1 + text.count("\n", 0, each.start)) for each in chosen]


def _strings(text, name) -> tuple[list[_Scalar], list[_Scalar]]:
    """Returns the strings that are values, and the keys of the mappings at the root."""
    resolver = yaml.resolver.Resolver()
    strings: list[_Scalar] = []
    roots: list[_Scalar] = []
    collections: list[_Collection] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            collections.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        above = collections[-1] if collections else _Collection(False, True, False)
        is_key = above.is_mapping and above.number % 2 == 0
        above.number += 1
        if isinstance(event, yaml.CollectionStartEvent):
            if len(collections) >= MOST_LEVELS:
                raise ValueError(
                    f"A document must have at most {MOST_LEVELS:,} levels. Received: {name}."
                )
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            is_translated = above.is_translated and not is_key
            is_in_flow = above.is_in_flow or bool(event.flow_style)
            if is_mapping and not is_key and len(collections) == 1 and roots:
                roots[-1] = roots[-1]._replace(has_members=True)
            collections.append(_Collection(is_mapping, is_translated, is_in_flow))
        elif isinstance(event, yaml.ScalarEvent) and above.is_translated:
            if event.implicit[0]:
                tag = resolver.resolve(yaml.ScalarNode, event.value, (True, False))
            else:
                tag = event.tag or _STRING
            start = _without_properties(text, event.start_mark.index)
            is_at_root = len(collections) == 1 and above.is_mapping and not is_key
            key = roots[-1].value if is_at_root and roots else ""
            end, in_flow = event.end_mark.index, above.is_in_flow
            scalar = _Scalar(start, end, event.value, event.style, in_flow, key=key)
            if is_key and len(collections) == 1:
                roots.append(scalar)
            is_kept = is_key or _SYMBOL.fullmatch(event.value) or _DATE.fullmatch(event.value)
            if tag in (_STRING, "!") and not is_kept:
                strings.append(scalar)
    return strings, roots


def _without_properties(text, place):
    """Returns the place of a value behind its anchor and tag, such as `&name !!str`."""
    while match := _PROPERTY.match(text, place):
        place = match.end()
    return place


def _new_root(root, options):
    """Returns the characters of a root key for the target language, or None if it stays."""
    match = _LANGUAGE.fullmatch(root.value)
    source, target = options.source_language, options.target_language
    if match is None or not root.has_members or not target or target == root.value:
        return None
    known = _LANGUAGE.match(source.lower()) if source else None
    is_source = known[1] == match[1] if known else len(match[1]) == _SHORT  # "app" is no language.
    if not is_source:
        return None
    return _written(target, root.style, root.is_in_flow, is_ascii=False)


def _segment(text, scalar, line):
    """Returns the segment of a string."""
    if scalar.style in ("|", ">"):
        return _block_segment(text, scalar, line)
    raw = text[scalar.start : scalar.end]
    is_ascii = raw.isascii() and ("\\u" in raw or "\\x" in raw)

    def write(chunks: list[Chunk]):
        new = "".join(chunk.content for chunk in chunks)
        return _written(new, scalar.style, scalar.is_in_flow, is_ascii)

    return Segment(scalar.start, line, raw, (scalar.value,), write)


def _written(text, style, is_in_flow, is_ascii):
    """Returns a string in a style, or in double quotes where the style cannot hold it."""
    if not _NOT_PRINTED.search(text) and "\n" not in text:
        if style == "'":
            return "'" + text.replace("'", "''") + "'"
        if style is None and _is_plain(text, is_in_flow):
            return text
    written = json.dumps(text, ensure_ascii=False)
    if is_ascii:
        return "".join(c if c.isascii() else _escape(c) for c in written)
    return _NOT_PRINTED.sub(lambda match: _escape(match[0]), written)


def _escape(character):
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def _is_plain(text, is_in_flow):
    """Returns whether a string is itself without quotation marks."""
    document, expected = (f"[{text}]", [text]) if is_in_flow else (f"a: {text}", {"a": text})
    try:
        return yaml.safe_load(document) == expected and text.lower() not in _WORDS
    except yaml.YAMLError:
        return False


def _block_segment(text, scalar, line):
    """Returns the segment of a block, from its first character to the last that is no space."""
    header = _HEADER.match(text, scalar.start)
    assert header is not None  # PyYAML has read it.
    first = _BLANK_LINES.match(text, header.end(), scalar.end).end()
    body = text[first : scalar.end].rstrip()
    value = scalar.value.strip("\r\n").rstrip()
    spaces = len(body) - len(body.lstrip(" "))
    indent = spaces - (len(value) - len(value.lstrip(" ")))
    start = first + spaces
    line_end = "\r\n" if "\r\n" in body else "\n"
    value = value.lstrip(" ")

    def write(chunks: list[Chunk]):
        new = _NOT_PRINTED.sub(" ", "".join(chunk.content for chunk in chunks))
        lines = [each.rstrip() for each in new.strip().split("\n")]
        lines = _unfolded(lines) if scalar.style == ">" else lines
        margin = " " * indent
        return line_end.join([lines[0], *(each and margin + each for each in lines[1:])])

    line += text.count("\n", scalar.start, start)
    return Segment(start, line, text[start : first + len(body)], (value,), write)


def _unfolded(lines):
    """Returns the lines of a folded block, where a line end is a blank line.

    Beside a line that begins with a space, line ends are as they are.
    """
    result: list[str] = []
    for line in lines:
        before = next(filter(None, reversed(result)), "")
        is_folded = line and before and " " not in (line[0], before[0])
        result += [*[""] * bool(is_folded), line]
    return result
