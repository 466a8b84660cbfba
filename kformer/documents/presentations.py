"""PowerPoint's pptx: the text of slides, their notes, charts and masters, read as in Word."""

import re

from kformer.documents.word_documents import read
from kformer.documents.xml_tokens import ENCODING_ERRORS, declared_encoding

__all__ = ["ENCODING_ERRORS", "declared_encoding", "has_text", "read"]
_TEXTS = re.compile(
    r"ppt/(?:slides/slide|notesSlides/notesSlide|slideLayouts/slideLayout|slideMasters/slideMaster"
    r"|charts/chart|diagrams/(?:data|drawing))\d*\.xml|docProps/core\.xml"
)


def has_text(name: str) -> bool:
    """Returns whether a member of the archive has text."""
    return bool(_TEXTS.fullmatch(name))
