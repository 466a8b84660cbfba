"""The kinds of documents: a name, suffixes of files, and the module that reads each.

A module of a text has two functions, and a module of an archive a third one:

- `declared_encoding(content)`: the encoding that the first bytes declare, or None.
- `read(text, options)`: yields strings and `Segment`s, as `kformer.documents.segments` describes.
- `has_text(name)`: whether the member of an archive has text.

`ENCODING_ERRORS` of a module, as for `str.encode`, is for characters that the encoding lacks.
"""

import importlib
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from kformer.arguments import check_choice


class ReadOptions(NamedTuple):
    """Facts that the readers of some kinds need.

    Attributes:
        name: Name of the document, for messages.
        source_language, target_language: Such as "en" and "de"; None if they are not known.
        encoding: Name of the encoding that the user gives, None for what the document declares.
        column: Name or number of the column of a table that is translated, or None.
        fuzzy: Whether translations of gettext get its flag for what must be reviewed.
    """

    name: str
    source_language: str | None = None
    target_language: str | None = None
    encoding: str | None = None
    column: str | None = None
    fuzzy: bool = False


class DocumentKind(NamedTuple):
    """A kind of documents.

    Attributes:
        name: Its name, for the argument `kind`.
        suffixes: Suffixes of its files.
        place: The module that reads it.
        is_archive: Whether it is a ZIP archive with texts.
        is_table: Whether it has columns, of which one is translated.
    """

    name: str
    suffixes: tuple[str, ...]
    place: str
    is_archive: bool = False
    is_table: bool = False

    @property
    def reader(self) -> ModuleType:
        """The module that reads it, which is imported when it is needed."""
        return importlib.import_module(f"kformer.documents.{self.place}")

    @property
    def encoding_errors(self) -> str:
        """The handler of characters that the document's encoding does not have."""
        return getattr(self.reader, "ENCODING_ERRORS", "strict")


KINDS = {
    kind.name: kind
    for kind in (
        DocumentKind("text", (".txt", ".text"), "plain_text"),
        DocumentKind("html", (".html", ".htm", ".xhtml"), "html_text"),
        DocumentKind("markdown", (".md", ".markdown"), "markdown_text"),
        DocumentKind("docx", (".docx", ".docm", ".dotx"), "word_documents", is_archive=True),
        DocumentKind(
            "pptx", (".pptx", ".pptm", ".potx", ".ppsx"), "presentations", is_archive=True
        ),
        DocumentKind("odt", (".odt", ".ott"), "open_documents", is_archive=True),
        DocumentKind("epub", (".epub",), "epub_books", is_archive=True),
        DocumentKind("subrip", (".srt",), "subtitles"),
        DocumentKind("webvtt", (".vtt",), "subtitles"),
        DocumentKind("gettext", (".po", ".pot"), "gettext_catalogs"),
        DocumentKind("xliff", (".xlf", ".xliff"), "xliff"),
        DocumentKind("json", (".json", ".arb"), "json_strings"),
        DocumentKind("android", (".xml",), "android_strings"),
        DocumentKind("strings", (".strings",), "apple_strings"),
        DocumentKind("xcstrings", (".xcstrings",), "string_catalogs"),
        DocumentKind("stringsdict", (".stringsdict",), "apple_plurals"),
        DocumentKind("properties", (".properties",), "java_properties"),
        DocumentKind("yaml", (".yml", ".yaml"), "yaml_strings"),
        DocumentKind("csv", (".csv", ".tsv"), "csv_columns", is_table=True),
        DocumentKind("resx", (".resx", ".resw"), "dotnet_resources"),
    )
}


def document_kind(path: str | Path, name: str | None = None) -> DocumentKind:
    """Returns the kind of a document: the named one, or else by the suffix of its file."""
    if name is not None:
        return KINDS[check_choice("kind", name, KINDS)]
    kind = kind_by_suffix(path)
    if kind is None:
        raise ValueError(
            f"A document must have one of the suffixes {known_suffixes()}, or its `kind` must be "
            f"given. Received: {str(path)!r}."
        )
    return kind


def kind_by_suffix(path: str | Path) -> DocumentKind | None:
    """Returns the kind of documents with the suffix of a file, or None."""
    suffix = Path(path).suffix.lower()
    return next((kind for kind in KINDS.values() if suffix in kind.suffixes), None)


def known_suffixes() -> str:
    """Returns the suffixes of all kinds, for messages."""
    return ", ".join(suffix for kind in KINDS.values() for suffix in kind.suffixes)
