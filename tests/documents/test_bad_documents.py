"""Damaged and hostile documents are refused in one line, in little time, with nothing written."""

import re
import time

import pytest

import kformer
from kformer.documents.character_sets import MOST_BYTES


def refusal(tmp_path, name, content, **options):
    """Returns the message of the refusal; checks that it is one line and writes nothing."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(tmp_path.iterdir())
    begun = time.process_time()
    with pytest.raises(ValueError) as refused:
        kformer.translate_document(path, list, tmp_path / "output", **options)
    assert time.process_time() - begun < 5
    assert sorted(tmp_path.iterdir()) == before
    message = str(refused.value)
    assert "\n" not in message and "Received: " in message
    return message


def test_bytes_of_no_encoding_are_refused_with_their_place(tmp_path):
    message = refusal(tmp_path, "a.txt", b"one\ntwo \xff\n")
    assert "or else in UTF-8" in message and "byte 8, in line 2, is not" in message
    message = refusal(tmp_path, "a.html", b'<meta charset="ascii-8">')
    assert "which declares 'ascii-8'" in message
    assert "declares 'hex'" in refusal(tmp_path, "b.html", b'<meta charset="hex">aa')


def test_a_document_without_a_kind_is_refused(tmp_path):
    assert "must have one of the suffixes .txt" in refusal(tmp_path, "a.pdf", b"")
    assert "`kind` must be one of text, html" in refusal(tmp_path, "a.txt", b"", kind="pdf")


def test_a_million_nested_tags_are_refused(tmp_path):
    assert "at most 1,000 elements inside" in refusal(tmp_path, "a.html", "<div>" * 1_000_000)


def test_a_document_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "film.srt"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(ValueError, match="at most 67,108,864 bytes"):
        kformer.translate_document(path, list, tmp_path / "output")


def test_subtitles_without_times_are_refused(tmp_path):
    assert "must have cues, with times" in refusal(tmp_path, "film.srt", "no times")


@pytest.mark.parametrize(
    "part", ["<!--", "<a ", '<a b="', "<a b='<a c=\"", "</", "&", "<script>", "<"]
)
def test_unfinished_markup_takes_linear_time(tmp_path, part):
    path = tmp_path / "a.html"
    path.write_text(part * 20_000)
    begun = time.process_time()
    kformer.translate_document(path, list, tmp_path / "output.html")
    assert time.process_time() - begun < 5  # Quadratic time would be a minute.
    assert (tmp_path / "output.html").read_text() == path.read_text()


def test_a_translator_that_fails_leaves_the_old_output(tmp_path):
    path, output = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("a\nb\n")
    output.write_text("old")
    with pytest.raises(ValueError, match="Received: 0 for 2 texts"):
        kformer.translate_document(path, lambda texts: [], output)
    with pytest.raises(TypeError, match=re.escape("or be a function")):
        kformer.translate_document(path, None, output)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.txt", "b.txt"]
    assert output.read_text() == "old"
