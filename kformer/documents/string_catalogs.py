"""Apple's string catalogs, `.xcstrings`: strings get a localization of the target language.

It is written where it is missing, empty or "new", with the state "needs_review". What is localized
stays.
"""

import bisect
import json
import re
from collections.abc import Iterator

from kformer.documents.document_kinds import ReadOptions
from kformer.documents.json_strings import declared_encoding, json_value, json_write
from kformer.documents.segments import Piece, Segment

__all__ = ["declared_encoding", "read"]
_STATE, _NEW = json.dumps("needs_review"), json.dumps("new")
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
    source, target = known.get(source_language), known.get(target_language)
    if target:
        if not any(_is_missing(unit) for _, unit in _units(target)):
            return None
        line = bisect.bisect_right(lines, target.start)
        if source and all(_is_missing(unit) for _, unit in _units(target)):
            return target.start, _copied(text, source, line), target.end
        return target.start, _filled(text, target, source, key, line), target.end
    line = bisect.bisect_right(lines, entry.start)
    deep = _INDENT.match(text, lines[line - 1])[0]
    name = f"{json.dumps(target_language)} : "
    if source:
        value = _copied(text, source, line)
    else:
        margin = f"{end}{deep}    "
        opening = f'{{{margin}  "stringUnit" : {{{margin}    "state" : '
        between = f',{margin}    "value" : '
        unit = _unit(key, line, entry.start, between)
        value = [opening, unit, f"{margin}  }}{margin}}}"]
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


def _units(localization):
    """Yields the string units of a localization, with the keys that lead to each."""
    waiting = [((), localization)]
    while waiting:
        path, value = waiting.pop()
        if (unit := value.members.get("stringUnit")) and "value" in unit.members:
            yield path, unit
        waiting += [((*path, key), inner) for key, inner in value.members.items()]


def _is_missing(unit):
    """Returns whether a unit has no translation yet."""
    state = unit.members.get("state")
    return unit.members["value"].text == "" or bool(state and state.text == "new")


def _copied(text, source, line):
    """Returns the localization of the source language with its values as segments."""
    units = [(unit, unit.members["value"].text) for _, unit in _units(source)]
    return _with_segments(text, source, units, line, is_kept=False)


def _filled(text, target, source, key, line):
    """Returns a localization with segments for the values that it lacks."""
    sources = {path: unit.members["value"].text for path, unit in _units(source)} if source else {}
    units = [(unit, sources.get(path, key)) for path, unit in _units(target) if _is_missing(unit)]
    return _with_segments(text, target, units, line, is_kept=True)


def _with_segments(text, localization, units, line, is_kept):
    """Returns the pieces of a localization with a segment for each unit, which has a source.

    Args:
        is_kept: Whether a unit stays where its translation fails; or else it is new and empty.
    """
    pieces, done = [], localization.start
    for unit, source in sorted(units, key=lambda each: each[0].start):
        value, state = unit.members["value"], unit.members.get("state") or unit.members["value"]
        first, last = sorted((value, state), key=lambda member: member.start)
        between = text[first.end : last.start] if value is not state else None
        kept = text[first.start : last.end] if is_kept else None
        pieces.append(text[done : first.start])
        pieces.append(_unit(source or "", line, first.start, between, first is state, kept))
        done = last.end
    return [*pieces, text[done : localization.end]]


def _unit(source, line, place, between, is_state_first=True, kept=None) -> Segment:
    """Returns the segment of a state and a value, with what is between them, if there is one.

    Args:
        kept: What stays where the translation fails; None for a new, empty unit.
    """
    write_value = json_write("")

    def joined(state, value):
        if between is None:
            return value
        return between.join([state, value] if is_state_first else [value, state])

    def write(chunks):
        return joined(_STATE, write_value(chunks))

    raw = joined(_NEW, '""') if kept is None else kept
    return Segment(place, line, raw, (source,) if source else (), write, inserted=True)
