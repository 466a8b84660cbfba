"""Documents that are ZIP archives, as docx, odt and EPUB: their texts, and one with other texts.

Members that are not translated keep their content, and all keep their order, dates and compression.
"""

import io
import posixpath
import zipfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import BinaryIO

from kformer.archives import Archive
from kformer.documents.character_sets import MOST_BYTES

_RULE = "A document of this kind must be a ZIP archive."
_MOST_MEMBERS = 100_000


def text_members(content: bytes, reader: ModuleType, name: str) -> Iterator[tuple[str, bytes]]:
    """Yields the name and the content of each member that has text."""
    with Archive(io.BytesIO(content), _RULE, name) as archive:
        archive.check_sizes()
        names = _checked(archive.names(), name)
        texts = [member for member in names if reader.has_text(member)]
        if not texts:
            raise ValueError(f"{_RULE} Received: {name}, which has no text of this kind.")
        for member in texts:
            text = archive.read(member)
            if len(text) > MOST_BYTES:
                raise ValueError(
                    f"A text in an archive must have at most {MOST_BYTES:,} bytes. "
                    f"Received: {member!r:.99} in {name}, of {len(text):,} bytes."
                )
            yield member, text


def _checked(names, document):
    for name in names:
        path = posixpath.normpath(name.replace("\\", "/"))
        if path.startswith(("/", "..")) or path[1:2] == ":" or "\0" in name:
            raise ValueError(
                "The members of an archive must be inside of it. "
                f"Received: {name!r:.99} in {document}."
            )
    if len(names) > _MOST_MEMBERS or len({*names}) < len(names):
        why = "several have one name" if len(names) <= _MOST_MEMBERS else f"{len(names):,}"
        raise ValueError(
            f"An archive must have at most {_MOST_MEMBERS:,} members of different names. "
            f"Received: {document} ({why})."
        )
    return names


def write_archive(
    content: bytes,
    reader: ModuleType,
    name: str,
    translate: Callable[[bytes, str], bytes],
    file: BinaryIO,
):
    """Writes an archive with the translated texts of another one.

    If no text changes, the bytes are those of the other one.

    Args:
        translate: callable (content, name of a member) -> its new content.
    """
    changed = {}
    for member, text in text_members(content, reader, name):
        new = translate(text, f"{member!r:.99} in {name}")
        if new != text:
            changed[member] = new
    if not changed:
        file.write(content)
        return
    with (
        Archive(io.BytesIO(content), _RULE, name) as checked,
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(file, "w") as output,
    ):
        output.comment = archive.comment
        for info in archive.infolist():
            member = changed.get(info.filename)
            output.writestr(info, checked.read(info.filename) if member is None else member)
