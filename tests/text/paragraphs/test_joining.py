"""Pieces of text, and translations in their places."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.paragraphs.joining import Piece, join, with_sources

SPACES = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
CHINESE_OR_JAPANESE = "[\u2e80-\u9fff\uf900-\uffff\U00020000-\U0003ffff]"


@given(st.text())
def test_a_piece_is_its_text(text):
    piece = Piece.of(text)
    assert "".join(piece) == text
    assert piece.source == text.strip()


@given(st.lists(st.text()))
def test_pieces_in_their_own_places_are_the_text(texts):
    """But for the spaces between sentences of Chinese and Japanese."""
    pieces = with_sources(map(Piece.of, texts))
    joined = join(pieces, [piece.source for piece in pieces])
    assert re.sub(SPACES, "", joined) == re.sub(SPACES, "", "".join(texts))
    if not re.search(CHINESE_OR_JAPANESE, "".join(texts)):
        assert joined == "".join(texts).replace("\u3000", " ") or "\u3000" in "".join(texts)


@given(st.lists(st.sampled_from(["a. ", " ", "\n", "1", "", "b"]), max_size=6))
def test_pieces_without_a_source_belong_to_their_neighbours(texts):
    pieces = [Piece(text, "", "") if not text.strip(" 1\n") else Piece.of(text) for text in texts]
    found = with_sources(pieces)
    assert "".join(map("".join, found)) == "".join(texts)
    sources = [piece.source for piece in pieces if piece.source]
    assert [piece.source for piece in found] == (sources or [""] * len(found))
    assert len(found) == (len(sources) or bool("".join(texts)))


@pytest.mark.parametrize(
    ("sources", "translations", "expected"),
    [
        (["这是书。", "好！"], ["It is a book.", "Good!"], "It is a book. Good!"),
        (["这是书。 ", "好！"], ["It is a book.", "Good!"], "It is a book. Good!"),
        (["好。\n", "好。"], ["Good.", "Good."], "Good.\nGood."),
        (["好。", "好。"], ["いい。", "いい。"], "いい。いい。"),
        (["好。", "好。"], ["", "Good."], "Good."),
        (["Good. ", "Good."], ["好。", "好。"], "好。好。"),
        (["Good.\u00a0 ", "Good."], ["OK", "好！"], "OK好！"),
        (["Good.\t", "Good."], ["好。", "好。"], "好。\t好。"),
        (["Good.\n  ", "Good."], ["好。", "好。"], "好。\n  好。"),
        (["好。\n\u3000", "好。"], ["Good.", "Good."], "Good.\n\u3000Good."),
        (["好。\u3000", "好。"], ["Good.", "Good."], "Good. Good."),
        (["好！\u3000", "好。"], ["いい！", "いい。"], "いい！\u3000いい。"),
        (["好。 ", "好。"], ["いい。", "いい。"], "いい。いい。"),
        (["Python. ", "Java."], ["我用Python.", "Java也行."], "我用Python.Java也行."),
        (["Er heißt 王。", "Gut."], ["His name is 王.", "Good."], "His name is 王. Good."),
        (["Gut. ", "Gut."], ["The sign reads 王", "Good."], "The sign reads 王 Good."),
        (["ฉันกิน", "ข้าว"], ["I eat", "rice"], "I eat rice"),
        (["Good. ", "Good."], ["ดี", "ดี"], "ดี ดี"),
        (["ｱ｡", "ｲ｡"], ["A.", "B."], "A. B."),
        (["좋아. ", "네."], ["好。", "好。"], "好。好。"),
        (["好。", "好。"], ["좋아.", "네."], "좋아. 네."),
        (["(a)", "[b]"], ["(c)", "[d]"], "(c)[d]"),
    ],
)
def test_the_translations_decide_about_the_space_between_sentences(sources, translations, expected):
    assert join([Piece.of(source) for source in sources], translations) == expected
