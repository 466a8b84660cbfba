"""Vocabularies that keep line breaks; the reference is the SentencePiece library."""

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.export.byte_codec.codec_tables import tables_of
from kformer.text import vocabulary
from support import codec_reference as reference
from support import toy

CODE = "def f(x):\n    if x:\n\treturn  x\n\n    return y\n    for z in x:\n        print(z)\n"
LINES = "".join(f"{one}.\n" for one in toy.SOURCES[:100]) + CODE * 60
LINE_ENDS = ["\r\n", "\r", "\x85", "\u2028", "\u2029"]
PARTS = [*"\n \t.:ax日\u200b", "def f", "    ", "ein "]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "lines.txt"
    path.write_text(LINES, "utf-8")
    return Tokenizer(vocabulary.learn(path, 400, at_most=True, line_breaks=True))


def in_codec(text, tokenizer):
    """Returns the ids and the text of the `.tflite` file's tokenizer."""
    tables = tables_of(tokenizer.model)
    ids = reference.tokenize(tables, text.encode())
    return ids, reference.detokenize(tables.spellings, ids).decode()


@given(text=TEXTS)
def test_text_comes_back_whole_from_all_forms(tokenizer, text):
    library = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
    ids = library.encode(text)
    assert tokenizer.tokenize([text]).to_list() == [ids]
    kept = text.replace("\u200b", "")
    assert tokenizer.decode([ids]) == [kept]
    assert in_codec(text, tokenizer) == (ids, kept)


@pytest.mark.parametrize("end", LINE_ENDS)
def test_every_line_end_is_a_line_feed(tokenizer, end):
    ids = tokenizer.tokenize([f"ein{end}bier{end}{end}"]).to_list()[0]
    assert tokenizer.decode(ids) == "ein\nbier\n\n"
    assert in_codec(f"ein{end}bier{end}{end}", tokenizer)[0] == ids


def test_a_line_break_is_a_piece_of_its_own(tokenizer):
    """So a prompt that ends at the end of a line has the ids that training text has there."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    assert [piece for piece in pieces if "\n" in piece] == ["\n"]
    ids = tokenizer.tokenize(["def f(x):", "def f(x):\n    if"]).to_list()
    assert ids[1][: len(ids[0])] == ids[0]


@pytest.mark.sample(6)
@pytest.mark.parametrize("pieces", vocabulary.KINDS)
@pytest.mark.parametrize(
    "text", [LINES, "日本語の文。\n\n短い\n" * 9], ids=["with spaces", "without spaces"]
)
def test_all_kinds_of_pieces_keep_lines(tmp_path, pieces, text):
    path = tmp_path / "text"
    path.write_text(text, "utf-8")
    most = vocabulary.learn(path, 2000, at_most=True, pieces=pieces, line_breaks=True)
    size = sentencepiece.SentencePieceProcessor(model_proto=most).GetPieceSize()
    exact = vocabulary.learn(path, size, pieces=pieces, line_breaks=True)
    library = sentencepiece.SentencePieceProcessor(model_proto=exact)
    assert library.GetPieceSize() == size
    changed = f"{text[:60]}\n  日 \n"
    assert library.decode(library.encode(changed)) == changed
    assert in_codec(changed, Tokenizer(exact)) == (library.encode(changed), changed)
    assert library.PieceToId("▁") != library.unk_id()


def test_long_lines_and_files_count(tmp_path):
    path = tmp_path / "text"
    path.write_text("donau " * 2000 + "\n" + "elbe\n" * 2000, "utf-8")
    tokenizer = Tokenizer(vocabulary.learn(path, 300, at_most=True, line_breaks=True))
    assert tokenizer.pieces(tokenizer.tokenize(["elbe\nelbe donau"]).to_list()[0]) == [
        "elbe",
        "\n",
        "elbe",
        "▁donau",
    ]


def test_a_vocabulary_without_line_breaks_is_refused(tokenizer, written):
    vocabulary.check_keeps_lines(tokenizer.model)
    other = vocabulary.learn(written("text.txt", LINES), 290)
    with pytest.raises(ValueError, match=r"keeps line breaks.*Received: documents='file'"):
        vocabulary.check_keeps_lines(other, documents="file")
