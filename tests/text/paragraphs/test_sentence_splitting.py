"""Sentences of a text: what sentencex finds, and that nothing is lost."""

import sys
import time

import pytest
import sentencex
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.sentence_splitters.texts import score, texts_of_languages
from kformer.text.paragraphs.sentence_splitting import split_sentences

LANGUAGES = st.sampled_from([None, "en", "de", "fr", "hi", "ja", "km", "xx", "pt-BR", "", "-"])
# Characters that begin, end and join sentences, beside all others.
TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("aBC.!?…,;:\"'“”«»()[] \t\r\n\0\x0b\x1c\x85\xa0\u2028\u202f।。？3")),
        st.characters(codec=None),
    ),
    max_size=60,
)


@given(TEXTS, LANGUAGES)
@example("Plan B\u00a0. Oui", "fr")  # sentencex 1.0.32 panics at this.
@example("half \ud83d of a pair. End", "en")
def test_the_sentences_of_any_text_are_the_text(text, language):
    sentences = split_sentences(text, language)
    assert "".join(sentences) == text
    assert "" not in sentences


@given(st.lists(TEXTS, min_size=1, max_size=5), LANGUAGES)
def test_a_line_break_ends_a_sentence(texts, language):
    lines = "\n".join(texts).splitlines(keepends=True)
    ends = {sum(map(len, lines[:n])) for n in range(1, len(lines) + 1)}
    found, place = set(), 0
    for sentence in split_sentences("\n".join(texts), language):
        place += len(sentence)
        found.add(place)
    assert ends <= found


def test_white_space_belongs_to_the_sentence_before_it_but_at_the_beginning_of_a_line():
    text = "  Er kommt.  Wann\u00a0? \r\n\r\n\tBald!\n"
    expected = ["  Er kommt.  ", "Wann\u00a0? \r\n", "\r\n", "\tBald!\n"]
    assert split_sentences(text, "de") == expected


def test_the_language_decides_what_is_an_abbreviation():
    text = "Am 3. Mai kommt Dr. Meier, z. B. um 8 Uhr. Wirklich!"
    expected = ["Am 3. Mai kommt Dr. Meier, z. B. um 8 Uhr. ", "Wirklich!"]
    for language in ("de", "DE", "de-AT", "de_CH"):
        assert split_sentences(text, language) == expected
    assert split_sentences(text, "en")[0] == "Am 3. "
    assert split_sentences("Ein Hund läuft. Wo?", "de") == ["Ein Hund läuft. ", "Wo?"]
    assert split_sentences("ein hund läuft. wo?", "de") == ["ein hund läuft. ", "wo?"]
    assert split_sentences(text) == split_sentences(text, "xx") == split_sentences(text, "en")


@pytest.mark.parametrize("language", texts_of_languages())
def test_abbreviations_are_no_ends_and_the_language_helps(language):
    """On texts of 24 languages, beside sentencex alone, and beside the rules of English."""
    texts = texts_of_languages()[language]

    def by_sentencex(text, language):
        return sentencex.segment(language, text.replace("\u00a0", " "))

    def by_english(text, _):
        return split_sentences(text)

    found, number, wrong = score(split_sentences, language, texts)
    found_alone, _, wrong_alone = score(by_sentencex, language, texts)
    found_in_english, _, wrong_in_english = score(by_english, language, texts)
    assert found >= max(found_alone, number - 4) and wrong <= min(wrong_alone, 1)
    assert found - wrong >= found_in_english - wrong_in_english


@pytest.mark.parametrize(
    "text", ["这是书。那是什么？好！", "यह किताब है। वह क्या है? अच्छा।", "هذا كتاب. ما هذا؟ نعم."]
)
def test_every_script_has_its_own_full_stops_whatever_the_language(text):
    assert len(split_sentences(text)) == 3


@pytest.mark.parametrize(
    "sentences",
    [
        ["(1) der hund schläft. ", "(2) die katze schläft."],
        ["(1) Der Hund schläft. ", "(2) Die Katze schläft."],
        ["der hund schläft. ", "12) die katze"],
        ["Es gilt Art. 5 Abs. (2) der Verordnung."],
        ["Siehe S. (2) und (3) des Gesetzes."],
    ],
)
def test_a_number_in_brackets_begins_a_sentence_behind_an_end(sentences):
    assert split_sentences("".join(sentences), "de") == sentences


def test_what_is_no_string_is_refused():
    with pytest.raises(TypeError, match=r"`text` must be a string. Received: text=\['a'\]"):
        split_sentences(["a"])
    with pytest.raises(TypeError, match=r"`source_language` must be a string. .*=7\."):
        split_sentences("a", 7)


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(ImportError, match="pip install sentencex"):
        split_sentences("a")


@pytest.mark.parametrize(
    "sentence", ["Ein Hund läuft. ", "Er kam um 3 Uhr z. B. nach Ulm. ", "犬。"]
)
def test_a_long_line_has_the_sentences_of_a_short_one(sentence):
    times = 30_000 // len(sentence)  # The library reads it in several parts.
    assert split_sentences(sentence * times, "de") == [sentence] * times


def test_a_quotation_without_an_end_takes_linear_time():
    text = "«Ja. " * 30_000
    begun = time.process_time()
    assert "".join(split_sentences(text, "de")) == text
    assert time.process_time() - begun < 2  # Quadratic time is 3 s for a third of it.


@pytest.mark.parametrize(
    "text",
    ["set %s.%s in it", "name %.*s.rej", "the color.* config", "of '*!+-' here", "many `?`s now"],
)
def test_code_within_a_word_ends_no_sentence(text):
    assert split_sentences(f"{text}. Next.", "en") == [f"{text}. ", "Next."]
    assert split_sentences("他来了。*我走了。", "zh") == ["他来了。", "*我走了。"]
