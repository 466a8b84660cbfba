"""Terms and placeholders in a source, as symbols."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import Glossary
from kformer.inference.facts import ModelFacts
from kformer.inference.source_marks import (
    ABOUT,
    KINDS,
    TERM_BEGIN,
    TERM_END,
    TERMS,
    marked_sources,
    reads_marks,
    symbols_of,
    with_terms,
    without_marks,
)

TRAINED = {ABOUT: [TERMS]}


def marked(sentence, **terms):
    text = with_terms(sentence, Glossary(terms).find(sentence))
    return text.replace(TERM_BEGIN, "<").replace(TERM_END, ">")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Ein Hund läuft.", "Ein Hund< hound> läuft."),
        ("Hund, Hund", "Hund< hound>, Hund< hound>"),
        ("  Ein ﬁscher  ", "Ein fischer"),
        ("Keine.", "Keine."),
        ("Die Bank hat Hunde", "Die Bank< 銀行> hat Hunde".replace("< ", "<")),
    ],
)
def test_the_translation_of_a_term_follows_it(sentence, expected):
    has_term = any(word in sentence for word in ("Hund,", "Hund ", "Bank"))
    expected = expected if has_term else sentence
    assert marked(sentence, Hund="hound", Bank="銀行") == expected


@given(st.text("ab ." + TERM_BEGIN, max_size=20))
def test_symbols_of_a_text_itself_are_no_marks(sentence):
    text = with_terms(sentence, Glossary({"a": "b"}).find(sentence))
    begun = [part.partition(TERM_END) for part in text.split(TERM_BEGIN)[1:]]
    if Glossary({"a": "b"}).find(sentence):
        assert {inside for inside, *_ in begun} == {" b"}
        unmarked = text.split(TERM_BEGIN)[0] + "".join(rest for *_, rest in begun)
        assert unmarked == without_marks(sentence.strip())


def test_only_models_that_were_trained_with_terms_read_them():
    glossary, texts = Glossary({"a": "b"}), ["a"]
    assert marked_sources(glossary, texts, TRAINED) != texts
    assert marked_sources(glossary, texts, {}) == marked_sources(None, texts, TRAINED) == texts
    assert not reads_marks({ABOUT: "terms"}, TERMS)
    assert len({*symbols_of(KINDS)}) == 10


def test_the_facts_of_a_model_name_the_marks_that_it_reads():
    facts = ModelFacts(about=TRAINED)
    assert (facts.source_marks, facts.reads_terms) == ((TERMS,), True)
    assert (ModelFacts().source_marks, ModelFacts().reads_terms) == ((), False)
