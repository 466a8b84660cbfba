"""Translation memories, TMX 1.4: the pairs of texts and translations of a document.

[TMX 1.4b](https://www.gala-global.org/). `kformer.text.tmx` reads them.
"""

from types import TracebackType
from typing import BinaryIO, Self
from xml.sax.saxutils import escape, quoteattr

from kformer.documents.xml_tokens import xml_characters

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
  <header creationtool="kformer" creationtoolversion="1" segtype="sentence" o-tmf="kformer"
    adminlang="en" srclang={source} datatype="plaintext"/>
  <body>
"""
_UNIT = """    <tu>
      <tuv xml:lang={source}><seg>{source_text}</seg></tuv>
      <tuv xml:lang={target}><seg>{target_text}</seg></tuv>
    </tu>
"""


class MemoryWriter:
    """Writes pairs of texts to a file, each pair once. To be used in a `with` statement.

    Args:
        file: A binary file.
        source_language, target_language: Such as "de" and "en".
    """

    def __init__(self, file: BinaryIO, source_language: str, target_language: str):
        self._file = file
        self._languages = {
            "source": quoteattr(source_language),
            "target": quoteattr(target_language),
        }
        self._written: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        self._file.write(_HEAD.format(**self._languages).encode())
        return self

    def __exit__(self, kind: type | None, _: object, __: TracebackType | None):
        if kind is None:
            self._file.write(b"  </body>\n</tmx>\n")

    def add(self, source: str, target: str):
        """Writes a pair."""
        if (source, target) in self._written:
            return
        self._written.add((source, target))
        texts = (escape(xml_characters(text)) for text in (source, target))
        source_text, target_text = texts
        unit = _UNIT.format(source_text=source_text, target_text=target_text, **self._languages)
        self._file.write(unit.encode())
