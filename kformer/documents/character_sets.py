"""The characters of a document's bytes, in the encoding that it declares, else in UTF-8.

The bytes come back from the characters exactly, or the document is refused.

Names of encodings are labels of the [standard of the web](https://encoding.spec.whatwg.org/), by
which "gb2312" is GB 18030 and "iso-8859-1" is windows-1252, or those of Python.
"""

import codecs
import contextlib
import functools
import re
from pathlib import Path

import webencodings

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

_WINDOWS_31J = "kformer_windows_31j"
_LEAD = re.compile(rb"[\x81-\x9f\xe0-\xfc].", re.DOTALL)  # Two bytes of a character.
# Encodings of browsers that have all characters of the narrower ones, and more.
_SUPERSETS = {"gb18030", "cp932", "cp949", "big5hkscs"}


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


def check_encoding(name: str | None):
    """Raises a ValueError if there is no encoding of a name, which is not None."""
    if name is not None and not _codecs_of(name):
        raise ValueError(
            "`encoding` must be the name of an encoding, such as windows-1252. "
            f"Received: encoding={name!r:.60}."
        )


def decode_document(
    content: bytes, declared: str | None, name: str, encoding: str | None = None
) -> tuple[str, str]:
    """Returns the characters of a document, and the encoding that has them as these bytes.

    A byte order mark is a character of the document. It comes before all names of encodings.

    Args:
        content: The bytes.
        declared: The encoding that the document declares, None if there is none.
        encoding: The encoding that the user gives, which comes before the declared one, or None.
    """
    codec = next((codec for mark, codec in _BYTE_ORDER_MARKS if content.startswith(mark)), None)
    if codec:
        names = [codec]
    elif encoding is not None:
        names = _codecs_of(encoding)[::-1]  # People mean what browsers mean.
    else:
        exact, *more = _codecs_of(declared or "utf-8") or [None]
        names = [*filter(None, [exact]), *(codec for codec in more if codec in _SUPERSETS)]
    if not names:
        raise ValueError(
            "A document must declare an encoding that is known, or be in UTF-8. "
            f"Received: {name}, which declares {declared!r:.60}; `encoding` can name another one."
        )
    if "cp932" in names:
        names.insert(names.index("cp932"), _WINDOWS_31J)
    reasons = []
    for codec in names:
        text, reason = _decoded(content, codec)
        if text is not None:
            return text, codec
        reasons.append(f"{codec}: {reason}")
    rule = "A document must be in the encoding that it declares, or else in UTF-8, or `encoding`."
    if encoding is not None:
        rule = "A document must be in the given encoding."
    raise ValueError(f"{rule} Received: {name} ({reasons[0]}).")


def _decoded(content, codec):
    """Returns the text of bytes and "", or None and the reason why they cannot be read."""
    try:
        text = content.decode(codec)
        if text.encode(codec) == content:
            return text, ""
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return None, f"byte {error.start:,}, in line {line}, is not: {error.reason}"
    except UnicodeEncodeError:
        pass
    return None, "some bytes are not as the encoding writes their characters"


@functools.cache
def _bytes_of_ibm() -> dict[bytes, bytes]:
    """Returns the bytes that Windows writes for those of Python's cp932, where they differ.

    Characters such as U+9AD9, of names, are twice in the set. Python writes the ones of NEC, and
    Windows and browsers those of IBM.
    """
    table = {}
    for lead in range(0xFA, 0xFD):
        for trail in range(0x40, 0xFD):
            pair = bytes([lead, trail])
            with contextlib.suppress(UnicodeDecodeError):
                written = pair.decode("cp932").encode("cp932")
                if written[0] in (0xED, 0xEE):
                    table[written] = pair
    return table


def _encoded(text: str, errors: str = "strict") -> tuple[bytes, int]:
    table = _bytes_of_ibm()
    content = text.encode("cp932", errors)
    return _LEAD.sub(lambda pair: table.get(pair[0], pair[0]), content), len(text)


class _Encoder(codecs.IncrementalEncoder):
    def encode(self, text, final=False):
        return _encoded(text, self.errors)[0]


def _windows_31j(name):
    if name != _WINDOWS_31J:
        return None
    decode = codecs.lookup("cp932").decode
    return codecs.CodecInfo(_encoded, decode, incrementalencoder=_Encoder, name=name)


codecs.register(_windows_31j)


def web_codec(label: str) -> str | None:
    """Returns Python's name of the encoding that browsers use for a label, or None."""
    encoding = webencodings.lookup(label)
    if encoding is None:
        return None
    codec = encoding.codec_info.name
    return "gb18030" if codec == "gbk" else _known_codec(codec)  # As browsers read it.


def _known_codec(name):
    """Returns Python's own name of an encoding of documents, or None."""
    try:
        codec = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):  # Also of a name with a NUL.
        return None
    return codec if _KNOWN.fullmatch(codec) else None


def _codecs_of(name):
    """Returns Python's encoding of a name, and that of browsers, each if there is one."""
    return [*dict.fromkeys(filter(None, (_known_codec(name), web_codec(name))))]


def encodable(text: str, encoding: str, errors: str) -> bool:
    """Returns whether a text can be encoded; arguments are as for `str.encode`."""
    try:
        text.encode(encoding, errors)
    except UnicodeEncodeError:
        return False
    return True
