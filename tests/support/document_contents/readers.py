"""The readers of documents, by suffix."""

import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable
from pathlib import Path

from support.document_contents.bilingual_contents import catalog_units, gettext_units, xliff_units
from support.document_contents.html_contents import html_units
from support.document_contents.markdown_contents import markdown_units
from support.document_contents.string_contents import apple_units, json_units, subtitle_units
from support.document_contents.units import Pair, Unit
from support.document_contents.xml_contents import (
    android_units,
    open_units,
    slide_units,
    word_units,
)

Read = Callable[..., list[Unit] | Pair]
READERS: dict[str, Read] = {
    ".docx": word_units,
    ".odt": open_units,
    ".pptx": slide_units,
    ".html": html_units,
    ".htm": html_units,
    ".xhtml": html_units,
    ".md": markdown_units,
    ".markdown": markdown_units,
    ".po": gettext_units,
    ".pot": gettext_units,
    ".xlf": xliff_units,
    ".xliff": xliff_units,
    ".xml": android_units,
    ".strings": apple_units,
    ".xcstrings": catalog_units,
    ".json": json_units,
    ".arb": json_units,
    ".srt": subtitle_units,
    ".vtt": subtitle_units,
}
BILINGUAL = {xliff_units, gettext_units, catalog_units}


def read_pair(name: str, before: bytes, after: bytes) -> Pair:
    """Returns the units of a document and of its translation; their order is the same.

    Args:
        name: Name of the document, whose suffix tells its format.
        before, after: The document, and its translation.

    Raises:
        ValueError: One of them is malformed, or the format has no reader.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"A document must have one of the suffixes {', '.join(READERS)}.")
    read = READERS[suffix]
    try:
        if read in BILINGUAL:
            return read(before, after)
        return read(before), read(after)
    except (ET.ParseError, zipfile.BadZipFile, OSError, KeyError, LookupError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
