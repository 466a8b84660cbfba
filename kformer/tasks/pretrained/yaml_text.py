"""YAML with strings as its only scalars: `no` is the code of Norwegian, not False."""

from pathlib import Path


def read_yaml(path: Path, text: str | None = None) -> dict:
    """Returns the mapping in a file, or in a `text` of it; {} if it is empty.

    No tag is followed, so nothing from the file is run.

    Raises:
        ValueError: It is no YAML, or no mapping.
    """
    import yaml  # Only an import needs it.

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # Without the C library, slow.
    if text is None:
        text = path.read_text("utf-8", errors="replace")
    try:
        found = yaml.load(text, loader) or {}
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"YAML of names with values is needed. Received: {str(path)!r}.")
    return found
