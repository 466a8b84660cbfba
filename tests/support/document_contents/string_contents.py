"""The texts of JSON, of Apple's strings and of subtitles."""

import json
import re
from collections.abc import Iterator

from support.document_contents.placeholder_patterns import JSON, STRINGS
from support.document_contents.units import LETTER, Unit, decoded


def json_units(content: bytes) -> list[Unit]:
    """Returns the strings of a JSON file, and whatever else it has as code."""
    data = json.loads(decoded(content))
    frame = Unit(raw="(keys and values)")
    is_chrome = (
        isinstance(data, dict)
        and bool(data)
        and all(isinstance(value, dict) and "message" in value for value in data.values())
    )
    units = [frame]
    for path, value in _values(data):
        name = "/".join(map(str, path))
        frame.add("elements", name)
        is_text = isinstance(value, str) and not any(str(key).startswith("@") for key in path)
        if is_text and (not is_chrome or path[1:] == ("message",)):
            units.append(Unit(value, value, JSON))
        else:
            frame.add("code", f"{name}: {value}")
    return units


def _values(node, path=()) -> Iterator[tuple[tuple, object]]:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _values(value, (*path, key))
        else:
            yield (*path, key), value


_STRINGS_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>[\w.-]+)|(?P<sign>[=;])",
    re.DOTALL,
)


def apple_units(content: bytes) -> list[Unit]:
    """Returns the values of a `.strings` file."""
    frame = Unit(raw="(keys)")
    units, is_value = [frame], False
    for match in _STRINGS_TOKEN.finditer(decoded(content)):
        if match["sign"]:
            is_value = match["sign"] == "="
            continue
        text = match["quoted"] if match["quoted"] is not None else match["bare"]
        if text is None:
            continue
        if is_value:
            value = text.replace("\\n", " ").replace('\\"', '"')
            units.append(Unit(value, text, STRINGS))
        else:
            frame.add("elements", text)
    return units


_TIMES = re.compile(r"^.*-->.*$", re.M)
_CUE_MARK = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")


def subtitle_units(content: bytes) -> list[Unit]:
    """Returns all cues as a single text, because a sentence may go over several of them."""
    text = decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    unit = Unit(raw=text)
    for block in re.split(r"\n[ \t]*\n", text):
        times = _TIMES.search(block)
        if times:
            unit.add("elements", times[0].strip())
            cue = block[times.end() :]
            for mark in _CUE_MARK.findall(cue):
                unit.add("elements", mark)
            cue = _CUE_MARK.sub("", cue)
            unit.text += f"{cue} "
            if LETTER.search(cue):
                unit.add("entries", times[0].strip())
        elif block.strip():
            unit.add("code", block.strip())
    return [unit]
