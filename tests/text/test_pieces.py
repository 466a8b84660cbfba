"""Vocabularies of characters and of words, which everything treats as unigram models."""

import io
import unicodedata

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from kformer import Tokenizer
from kformer.export.byte_codec.codec_tables import tables_of
from kformer.text import vocabulary

LINES = ["am 3. mai 1998", "das haus ist alt", "das haus , das wir kennen", "21.12.2004"] * 5
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), "utf-8")
    return path


@pytest.fixture(scope="module")
def of_kind(text):
    return {
        kind: Tokenizer(vocabulary.learn(text, 8000, 1.0, at_most=True, pieces=kind))
        for kind in ("char", "word")
    }


def pieces_of(tokenizer, text):
    return tokenizer.pieces(tokenizer.tokenize([text]).to_list()[0])


def test_pieces_are_characters_and_a_space_is_one(of_kind):
    tokenizer = of_kind["char"]
    assert pieces_of(tokenizer, "das alte haus 21") == list("▁das▁alte▁haus▁21")
    known = set("".join(LINES).replace(" ", "▁")) | {"▁"}
    assert {*tokenizer.pieces(range(260, tokenizer.vocab_size))} == known
    assert pieces_of(tokenizer, "dß") == ["▁", "d", "<0xC3>", "<0x9F>"]


def test_characters_are_split_as_the_library_splits_them(of_kind, text):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_writer=written,
        model_type="char",
        vocab_size=8000,
        character_coverage=1.0,
        byte_fallback=True,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    library = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    for line in [*LINES, "x  ÿ ", "", "日本 21"]:
        [ids] = of_kind["char"].tokenize([line]).to_list()
        assert ids == library.encode(line)


def test_pieces_are_words_and_others_are_spelled(of_kind):
    tokenizer = of_kind["word"]
    assert pieces_of(tokenizer, "das haus ist alt") == ["▁das", "▁haus", "▁ist", "▁alt"]
    words = {f"▁{word}" for line in LINES for word in line.split()}
    assert {*tokenizer.pieces(range(260, tokenizer.vocab_size))} == words | {"▁"}
    assert pieces_of(tokenizer, "das öl")[1:] == ["▁", "<0xC3>", "<0xB6>", "<0x6C>"]


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20))
def test_no_text_is_lost(of_kind, text):
    text = f"das {unicodedata.normalize('NFKC', text)} haus".replace("▁", "")
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    for tokenizer in of_kind.values():
        [joined] = tokenizer.detokenize(tokenizer.tokenize([text])).numpy()
        expected = sentencepiece.SentencePieceProcessor(model_proto=tokenizer.model)
        assert joined.decode() == expected.decode(expected.encode(text))
        assert joined.decode().split() == expected.normalize(text).replace("▁", " ").split()


@pytest.mark.parametrize("kind", ["char", "word"])
def test_a_size_is_met_or_refused_with_the_one_that_fits(text, of_kind, kind):
    most = of_kind[kind].vocab_size
    for size in (most, most - 2):
        assert Tokenizer.train(text, size, 1.0, kind).vocab_size == size
    with pytest.raises(ValueError, match=f"at most {most}, .* Received: vocab_size={most + 1}"):
        Tokenizer.train(text, most + 1, 1.0, kind)
    with pytest.raises(ValueError, match=r"must be over 260.* Received: vocab_size=77"):
        Tokenizer.train(text, 77, 1.0, kind)


def test_a_file_for_phones_can_hold_them(of_kind):
    for tokenizer in of_kind.values():
        assert tables_of(tokenizer.model)


def test_another_kind_is_refused(text):
    with pytest.raises(ValueError, match="`pieces` must be one of unigram, char, word"):
        Tokenizer.train(text, 300, pieces="syllable")
