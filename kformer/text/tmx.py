"""TMX, the exchange format of translation memories ([TMX 1.4b](https://www.gala-global.org/)).

A `<tu>` has a `<tuv xml:lang="de">` for each language, and that a `<seg>` with the text.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from kformer.text.text_files import opened

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_SPACE = re.compile("[ \t\r\n]+")
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # Elements that hold codes of a layout, not text.


def read_tmx(file: str | Path, languages: Sequence[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a TMX file, plain or compressed. Codes of a layout are left out.

    Args:
        file: A path.
        languages: Those of source and target, such as "de" and "en"; "de" also means "de-AT". By
            default the first two languages of the first unit.

    Raises:
        FileNotFoundError, IsADirectoryError: There is no such file.
        ValueError: The file is not well-formed, or no unit has both languages.
    """
    name, found = repr(str(file)), False
    seen = {}
    try:
        with opened(file) as content:
            for texts in _units(content):
                seen |= dict.fromkeys(texts)
                if languages is None and len(texts) > 1:
                    languages = [*texts][:2]
                pair = [_of_language(texts, language) for language in languages or ()]
                if pair and None not in pair:
                    found = True
                    yield tuple(pair)
    except ElementTree.ParseError as error:
        raise ValueError(f"A TMX file must be well-formed XML. Received: {name} ({error}).") from (
            error
        )
    if not found:
        raise ValueError(
            "A TMX file must have units with both languages; `columns` chooses them. Received: "
            f"{name}, with the languages {', '.join(map(repr, seen)) or 'of none'}, for "
            f"columns={languages}."
        )


def _units(content):
    """Yields the texts of each unit, by language in lower case; deletes what has been read."""
    above = []
    for event, element in ElementTree.iterparse(content, ("start", "end")):
        tag = _tag(element)
        if event == "start":
            above.append(element)
            continue
        above.pop()
        if tag == "tu":
            yield {
                language.lower(): _text(segment)
                for variant in element
                if _tag(variant) == "tuv"
                and (language := variant.get(_LANGUAGE) or variant.get("lang"))
                for segment in variant
                if _tag(segment) == "seg"
            }
            for parent in above[-1:]:
                parent.clear()


def _of_language(texts, language):
    language = language.lower()
    alike = (one for one in texts if one.startswith(f"{language}-"))
    return texts.get(language, texts.get(next(alike, None)))


def _text(element):
    """Returns the text of an element, white space of XML joined, without codes of a layout."""
    return _SPACE.sub(" ", "".join(_parts(element))).strip(" ")


def _parts(element):
    if _tag(element) not in _CODES:
        yield element.text or ""
        for child in element:
            yield from _parts(child)
            yield child.tail or ""


def _tag(element):
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
