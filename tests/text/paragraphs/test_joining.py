"""Pieces of text, and translations in their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.paragraphs.joining import Piece, join


@given(st.text())
def test_a_piece_is_its_text(text):
    piece = Piece.of(text)
    assert "".join(piece) == text
    assert piece.source == text.strip()


@given(st.lists(st.text()))
def test_pieces_in_their_own_places_are_the_text(texts):
    pieces = [Piece.of(text) for text in texts]
    assert join(pieces, [piece.source for piece in pieces]) == "".join(texts)


@pytest.mark.parametrize(
    ("sources", "translations", "expected"),
    [
        (["这是书。", "好！"], ["It is a book.", "Good!"], "It is a book. Good!"),
        (["这是书。 ", "好！"], ["It is a book.", "Good!"], "It is a book. Good!"),
        (["好。\n", "好。"], ["Good.", "Good."], "Good.\nGood."),
        (["好。", "好。"], ["いい。", "いい。"], "いい。いい。"),
        (["好。", "好。"], ["", "Good."], "Good."),
        (["Good. ", "Good."], ["好。", "好。"], "好。 好。"),
        (["(a)", "[b]"], ["(c)", "[d]"], "(c)[d]"),
    ],
)
def test_a_space_comes_where_only_the_source_needs_none(sources, translations, expected):
    assert join([Piece.of(source) for source in sources], translations) == expected
