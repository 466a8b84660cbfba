"""Marks of lists and what has no letter: kept, and never a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.paragraphs.marks import has_letter
from kformer.text.paragraphs.sentence_splitting import split_pieces, split_sentences
from support.paragraphs import LINES

LANGUAGES = st.sampled_from([None, "en", "de", "fr", "hu", "ja", "xx"])
TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("1.2) a(b*-#>•…!\n \t\u3000A好。、」一😀👍🏽\ufe0f\u200d→iVx[]")),
        st.characters(codec=None),
    ),
    max_size=40,
)


@pytest.mark.parametrize(("language", "line", "sentences"), LINES)
def test_sentences_are_what_is_translated_of_a_line(language, line, sentences):
    pieces = split_pieces(line, language)
    assert [piece.source for piece in pieces if piece.source] == sentences
    assert "".join(map("".join, pieces)) == line


@given(TEXTS, LANGUAGES)
def test_the_pieces_of_any_text_are_the_text(text, language):
    pieces = split_pieces(text, language)
    assert "".join(map("".join, pieces)) == text
    assert all(has_letter(piece.source) for piece in pieces) or len(pieces) == 1
    assert all(piece.source == piece.source.strip() for piece in pieces)


@given(st.lists(TEXTS, max_size=3).map("\n".join), LANGUAGES)
def test_nothing_with_a_letter_is_left_out_but_marks(text, language):
    """Of a line that begins with a word, so that it has no mark."""
    text = "Word " + text.replace("\n", "\nWord ")
    lines = len(split_sentences(text, language))
    sources = [piece.source for piece in split_pieces(text, language)]
    assert sum(source.startswith("Word") for source in sources) == text.count("Word")
    assert len(sources) <= lines


@pytest.mark.parametrize("text", ["", " ", "1", "½", "٣", "…", "😀", "ℹ️", "\u0301", "_", "Ⅳ"])
def test_digits_signs_and_emoji_are_no_letters(text):
    assert not has_letter(text)


@pytest.mark.parametrize("text", ["a", "ß", "я", "好", "あ", "क", "م", "ก", "ª", "한"])
def test_letters_are_those_of_all_scripts(text):
    assert has_letter(f"1 {text}.")
