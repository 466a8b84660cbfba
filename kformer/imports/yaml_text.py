"""YAML with strings as its only scalars: `no` is the code of Norwegian, not False."""

import re
from pathlib import Path

from kformer.json_files import MOST_BYTES

# Characters that YAML 1.1 takes for the end of a line, or refuses. In YAML 1.2, which Marian
# writes, they are like any other; so private characters stand for them while YAML is read.
_REPLACED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PLACES = 0x10_0000  # The first of a plane of characters for private use.
_RESTORED = re.compile(r"[\U00100000-\U0010ffff]")


def read_yaml(path: Path, text: str | None = None) -> dict:
    """Returns the mapping in a file, or in a `text` of it; {} if it is empty.

    No tag is followed, so nothing from the file is run.
    """
    import yaml  # Only an import needs it.

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # Without the C library, slow.
    if text is None:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(
                f"YAML of at most {MOST_BYTES:,} bytes can be read. Received: {str(path)!r}."
            )
        text = path.read_bytes().decode("utf-8", errors="replace").removeprefix("\ufeff")
    text = text.replace("\r\n", "\n")
    replaced = _REPLACED.search(text) is not None and _RESTORED.search(text) is None
    if replaced:
        text = _REPLACED.sub(lambda match: chr(_PLACES + ord(match[0])), text)
    try:
        content = yaml.load(text, loader) or {}
        _check_tree(content, set())
        if replaced:
            content = _restored(content)
    except (yaml.YAMLError, RecursionError, TypeError):  # TypeError: a list as a name.
        content = None
    if not isinstance(content, dict):
        raise ValueError(f"YAML of names with values is needed. Received: {str(path)!r}.")
    return content


def _check_tree(value, seen):
    """Raises a YAMLError if a list or mapping occurs twice, because of an alias."""
    import yaml

    if isinstance(value, dict | list):
        if id(value) in seen:
            raise yaml.YAMLError
        seen.add(id(value))
        for item in value.values() if isinstance(value, dict) else value:
            _check_tree(item, seen)


def _restored(value):
    if isinstance(value, dict):
        return {_restored(name): _restored(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return _RESTORED.sub(lambda match: chr(ord(match[0]) - _PLACES), value)
