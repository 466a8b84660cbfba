"""The characters of a document's bytes, in the encoding that it declares, else in UTF-8.

The bytes come back from the characters exactly, or the document is refused.
"""

import codecs
import re
from pathlib import Path

from kformer.files import check_file

MOST_BYTES = 2**26  # Of a document, and of the texts in an archive.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # Before the mark of UTF-16, which it begins with.
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python's other codecs are no encodings of documents, or take quadratic time.
_KNOWN = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-[lb]e)?|iso8859-\d+|latin-?1|cp\d+|koi8-[rut]|mac-?\w+|gb(?:k|2312|18030)"
    r"|big5(?:hkscs)?|euc_(?:jp|jis_2004|jisx0213|kr)|shift_jis(?:_2004|x0213)?|johab|tis-620|hz"
    r"|iso2022_(?:jp(?:_\w+)?|kr)|kz1048|ptcp154"
)


def read_document(path: str | Path) -> bytes:
    """Returns the bytes of a document."""
    path = Path(path)
    check_file(path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(
            f"A document must have at most {MOST_BYTES:,} bytes. "
            f"Received: {str(path)!r} of {size:,} bytes."
        )
    return path.read_bytes()


def decode_document(content: bytes, declared: str | None, name: str) -> tuple[str, str]:
    """Returns the characters of a document, and the encoding that has them as these bytes.

    A byte order mark is a character of the document. It comes before what the document declares.

    Args:
        content: The bytes.
        declared: The encoding that the document declares, None if there is none.
    """
    encoding = next(
        (codec for mark, codec in _BYTE_ORDER_MARKS if content.startswith(mark)), None
    ) or _encoding_named(declared or "utf-8", name)
    why = ""
    try:
        text = content.decode(encoding)
        if text.encode(encoding) == content:
            return text, encoding
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        why = f"byte {error.start:,}, in line {line}, is not: {error.reason}"
    except UnicodeEncodeError:
        pass
    why = why or "some bytes are not as the encoding writes their characters"
    raise ValueError(
        "A document must be in the encoding that it declares, or else in UTF-8. "
        f"Received: {name} ({encoding}: {why})."
    )


def _encoding_named(declared, name):
    try:
        codec = codecs.lookup(declared.strip()).name
    except (LookupError, ValueError):  # Also of a name with a NUL.
        codec = ""
    if not _KNOWN.fullmatch(codec):
        raise ValueError(
            "A document must declare an encoding that Python knows, or be in UTF-8. "
            f"Received: {name}, which declares {declared!r:.60}."
        )
    return codec


def encodable(text: str, encoding: str, errors: str) -> bool:
    """Returns whether a text can be encoded; arguments are as for `str.encode`."""
    try:
        text.encode(encoding, errors)
    except UnicodeEncodeError:
        return False
    return True
