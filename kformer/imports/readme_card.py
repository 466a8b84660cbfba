"""Model cards: README.md in the folder of a model, which may begin with a head in YAML."""

import re
from pathlib import Path

from kformer.imports.yaml_text import read_yaml

CARD = "README.md"
_HEAD = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
# A heading that mentions a citation, and the text up to the next heading.
_CITATION = re.compile(
    r"^#+[^\n]*\bcit(?:ation|e|ing)\b[^\n]*\n(.*?)(?=^#|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def read_card(folder: Path) -> dict:
    """Returns licence, languages and citation of a model, from the card in its folder."""
    path = folder / CARD
    if not path.is_file():
        return {}
    text = path.read_text("utf-8", errors="replace")
    about = {}
    if match := _HEAD.match(text):
        head = read_yaml(path, match[1])
        licences, languages = (_strings(head.get(name)) for name in ("license", "language"))
        about = {"licence": ", ".join(licences), "languages": languages}
        text = text[match.end() :]
    if match := _CITATION.search(text):
        about["citation"] = match[1].strip()
    return {name: value for name, value in about.items() if value}


def _strings(value):
    """Returns a value of YAML, one or a list, as a list of strings."""
    values = value if isinstance(value, list) else [value]
    return [str(item) for item in values if item]
