"""Apple's string catalogs, `.xcstrings`: strings get a localization of the target language.

It is written where it is missing, with the state "needs_review". What is localized stays.
"""

import bisect
import json
import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.json_strings import declared_encoding, json_value, json_write
from kformer.documents.segments import Piece, Segment

__all__ = ["declared_encoding", "read"]
_STATE = json.dumps("needs_review")
_LINE_END = re.compile("\n")
_INDENT = re.compile("[ \t]{0,100}")  # A longer one would be repeated for each string.


def read(text: str, options: ReadOptions) -> Iterator[Piece]:
    """Yields the pieces of a catalog."""
    catalog = json_value(text, options.name)
    strings, source = catalog.members.get("strings"), catalog.members.get("sourceLanguage")
    if strings is None or source is None or source.text is None:
        raise ValueError(
            'A string catalog must be an object with "sourceLanguage" and "strings". '
            f"Received: {options.name}."
        )
    if options.target_language is None:
        raise ValueError(
            "A string catalog needs `target_language`, unless the translator has one. "
            f"Received: target_language=None for {options.name}."
        )
    done, end = 0, "\r\n" if "\r\n" in text else "\n"
    lines = [0, *(match.end() for match in _LINE_END.finditer(text))]  # Where each begins.
    for key, entry in strings.members.items():
        insertion = _insertion(text, lines, key, entry, source.text, options.target_language, end)
        if insertion:
            place, pieces, after = insertion
            yield text[done:place]
            yield from pieces
            done = after
    yield text[done:]


def _insertion(text, lines, key, entry, source_language, target_language, end):
    """Returns two places in the document and the pieces between them, or None."""
    if text[entry.start : entry.end][:1] != "{" or not key.strip():
        return None
    kept = entry.members.get("shouldTranslate")
    if kept and text[kept.start : kept.end] == "false":
        return None
    localizations = entry.members.get("localizations")
    known = localizations.members if localizations else {}
    if target_language in known:
        return None
    line = bisect.bisect_right(lines, entry.start)
    deep = _INDENT.match(text, lines[line - 1])[0]
    name = f"{json.dumps(target_language)} : "
    source = known.get(source_language)
    if source:
        value = _copied(text, source, line)
    else:
        margin = f"{end}{deep}    "
        opening = (
            f'{{{margin}  "stringUnit" : {{{margin}    "state" : {_STATE},{margin}    "value" : '
        )
        value = [opening, _inserted(key, line, entry.start), f"{margin}  }}{margin}}}"]
    if localizations and known:
        last = max(known.values(), key=lambda member: member.end)
        return last.end, [f",{end}{deep}    {name}", *value], last.end
    if localizations:
        place = localizations.start + 1
        after = localizations.end - 1
        return place, [f"{end}{deep}    {name}", *value, f"{end}{deep}  "], after
    opening = f'"localizations" : {{{end}{deep}    {name}'
    closing = f"{end}{deep}  }}"
    if entry.members:
        last = max(entry.members.values(), key=lambda member: member.end)
        return last.end, [f",{end}{deep}  {opening}", *value, closing], last.end
    pieces = [f"{end}{deep}  {opening}", *value, f"{closing}{end}{deep}"]
    return entry.start + 1, pieces, entry.end - 1


def _copied(text, source, line):
    """Returns the localization of the source language with its values as segments."""
    pieces, done, waiting, units = [], source.start, [source], []
    while waiting:
        value = waiting.pop()
        if unit := value.members.get("stringUnit"):
            units += [
                (unit.members[name], name) for name in ("state", "value") if name in unit.members
            ]
        waiting += value.members.values()
    for value, name in sorted(units):
        pieces.append(text[done : value.start])
        if name == "state":
            pieces.append(_STATE)
        else:
            pieces.append(_inserted(value.text or "", line, value.start))
        done = value.end
    return [*pieces, text[done : source.end]]


def _inserted(text: str, line: int, place: int) -> Segment:
    return Segment(place, line, "", (text,) if text else (), json_write(""), inserted=True)
