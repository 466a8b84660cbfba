"""Documents of text files."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.documents import BLANK_LINE, FILE, LINE, documents_of, read_documents

TEXT = "\n  \nein bier\n  bitte\t\n\n \nwir\r\n\n"


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (LINE, ["", "  ", "ein bier", "  bitte\t", "", " ", "wir", ""]),
        (BLANK_LINE, ["ein bier\n  bitte\t", "wir"]),
        (FILE, ["ein bier\n  bitte\t\n\n \nwir"]),
    ],
)
@pytest.mark.parametrize("ending", ["txt", "gz"])
def test_what_a_document_is(tmp_path, documents, expected, ending):
    path = tmp_path / f"text.{ending}"
    path.write_bytes(gzip.compress(TEXT.encode()) if ending == "gz" else TEXT.encode())
    assert [*read_documents(path, documents)] == expected


@given(st.lists(st.sampled_from(["", " ", "a", "  b ", "\tc"])))
def test_no_line_of_text_is_lost(lines):
    text = [line for line in lines if line.strip()]
    for documents in (BLANK_LINE, FILE):
        found = [*documents_of(lines, documents)]
        assert [one for document in found for one in document.split("\n") if one.strip()] == text
        assert all(document.strip() for document in found)
    assert len([*documents_of(lines, FILE)]) == bool(text)


def test_another_word_is_refused(written):
    with pytest.raises(ValueError, match="`documents` must be one of line, blank-line, file"):
        read_documents(written("text.txt", "wir\n"), "page")
