"""Halves of sentences that are too long."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.paragraphs.sentence_splitting import halves

SENTENCES = st.text(
    st.one_of(st.sampled_from(list("ab,;:… \t\u00a0、。，\u0301\u200d🏽👩")), st.characters()),
    max_size=50,
).map(str.strip)


@given(SENTENCES)
def test_the_halves_of_any_sentence_are_the_sentence(sentence):
    if parts := halves(sentence):
        assert "".join(parts) == sentence
        assert min(map(len, parts)) >= max(1, len(sentence) // 4)
        assert all(part.strip() for part in parts)
    else:
        assert len(sentence) < 2 or any(map(is_joined, sentence))


def is_joined(character):
    return character in "\u200d🏻🏼🏽🏾🏿" or unicodedata.category(character).startswith("M")


@pytest.mark.parametrize(
    ("sentence", "first"),
    [
        ("er kommt nicht, weil es regnet und stürmt", "er kommt nicht, "),
        ("er sagte „nein“; dann ging er ohne Gruß", "er sagte „nein“; "),
        ("it was “late,” he said and left us there", "it was “late,” "),
        ("es kostet nur 3,50 Euro und 1,20 Franken", "es kostet nur 3,50 "),  # No clause.
        ("a, " + "word " * 20 + "end", "a, " + "word " * 10),  # The clause is too near the start.
        ("我们今天去公园，因为天气很好", "我们今天去公园，"),
        ("x" * 10, "x" * 5),
        ("aaaaa\u0301aaaa", "aaaa"),
        ("👩\u200d👩🏽👩👩", "👩\u200d👩🏽"),
        ("ab", "a"),
    ],
)
def test_it_ends_with_a_clause_a_word_or_a_character(sentence, first):
    assert halves(sentence) == (first, sentence.removeprefix(first))


@pytest.mark.parametrize("sentence", ["", "a", "a\u0301", "👩\u200d👩"])
def test_one_character_has_no_halves(sentence):
    assert halves(sentence) is None
