"""Drafts with terms, on an engine that is a dictionary."""

import numpy as np
import pytest

from kformer import AnyTranslator, Glossary, Translation
from kformer.inference.engine import Engine, Rated
from kformer.inference.facts import ModelFacts
from kformer.inference.term_drafts import (
    aligned_place,
    changed_place,
    is_kept_name,
    replaced,
    replacements,
    tidy,
    with_names,
    with_translations,
    without_names,
)
from kformer.text.alignment import align_words

WORDS = {
    "The": "O",
    "the": "o",
    "hospital": "hospital",
    "Hospital": "Hospital",
    "White": "Branca",
    "House": "Casa",
    "matched": "equiparou",
    "team": "time",
    "sees": "v\u00ea",
    "in": "em",
    "a": "um",
    "dog": "c\u00e3o",
}


class Dictionary(Engine):
    """Translates word by word, copies what it does not know, and likes words that it expects."""

    def __init__(self, reads_copies=True, gender=(), **facts):
        self.reads_copies, self.gender = reads_copies, gender
        self.facts = ModelFacts(
            about={"source_language": "en"}, target_language="pt", scores=True, **facts
        )

    def search(self, sentences, request):
        return [[self._answer(self._words(text), 0.0)] for text in sentences]

    def rate(self, sentences, translations, request):
        return [
            Rated(self._answer(text, score), score)
            for sentence, text in zip(sentences, translations, strict=True)
            for wrong in [sum(f" o {word}" in text for word in self.gender)]
            for score in [-4.0 * self._distance(self._words(sentence), text) - 8.0 * wrong]
        ]

    def _words(self, sentence):
        unknown = (lambda word: word) if self.reads_copies else (lambda word: "?")
        words = [WORDS.get(word) or unknown(word) for word in sentence.rstrip(".").split()]
        for word in self.gender:
            words = " ".join(words).replace(f"o {word}", f"a {word}").split()
        return " ".join(words) + "." * sentence.endswith(".")

    @staticmethod
    def _distance(one, other):
        one, other = one.strip(".").split(), other.strip(".").split()
        return len({*one} ^ {*other}) + abs(len(one) - len(other))

    def _answer(self, text, score):
        return Translation(text, score)


class Words(AnyTranslator):
    def __init__(self, **settings):
        self.engine = Dictionary(no_terms=None, **settings)

    def align(self, sentences, translations):
        """Aligns each word with the word at its place."""
        pairs = zip(sentences, translations, strict=True)
        return [
            align_words(
                np.eye(len(target.split()), len(source.split())),
                ["\u2581" + word for word in source.split()],
                ["\u2581" + word for word in target.split()],
            )
            for source, target in pairs
        ]


def terms(glossary, sentence):
    return Glossary(glossary).find(sentence)


def test_a_term_replaces_the_word_that_aligns_with_it():
    for aligns in (True, False):  # Without alignment, the model copies the term.
        translator = Words(aligns=aligns)
        glossary = {"team": "equipa"}
        assert translator.translate("The dog sees the team.", glossary=glossary) == (
            "O c\u00e3o v\u00ea o equipa."
        )
    assert Words(aligns=True, reads_copies=False).translate(
        "The dog sees the team.", glossary=glossary
    ) == ("O c\u00e3o v\u00ea o equipa.")


def test_the_article_is_that_of_the_term():
    translator = Words(aligns=True, gender=["equipa"])
    answer = translator.translate("The dog sees the team.", glossary={"team": "equipa"})
    assert answer == "O c\u00e3o v\u00ea a equipa."


def test_a_name_of_several_words_is_replaced_as_a_whole_with_its_capitals():
    translator = Words(aligns=True)
    answer = translator.translate("the White House.", glossary={"White House": "Casa Alva"})
    assert answer == "o Casa Alva."


def test_a_form_that_is_another_word_does_not_count():
    """ "Equipar" has the term with an ending, but aligns with another word."""
    translator = Words(aligns=True)
    [best] = translator.translations("The equipar sees the team.", glossary={"team": "equipa"})
    assert best.text == "O equipar v\u00ea o equipa." and best.flags == ()


def test_a_term_in_a_name_that_is_copied_stays():
    translator = Words(aligns=True)
    text = "The team sees Save Our Children."
    [best] = translator.translations(text, glossary={"children": "mi\u00fados"})
    assert "mi\u00fados" not in best.text
    [kids] = terms({"children": "mi\u00fados"}, text)
    assert is_kept_name(text, kids, "A equipa v\u00ea a Save Our Children.")
    assert not is_kept_name(text, kids, "A equipa v\u00ea Children.")
    [kids] = terms({"children": "mi\u00fados"}, "He saw the children.")
    assert not is_kept_name("He saw the children.", kids, "Viu the children.")


def test_a_term_that_spoils_the_sentence_is_flagged():
    engine = Words(aligns=True).engine
    search = engine.search

    def forgetful(sentences, request):
        """Copies nothing that it does not know, and drops it instead."""
        kept = [" ".join(w for w in s.split() if w.strip(".") in WORDS) for s in sentences]
        return search(kept, request)

    engine.search = forgetful
    engine._words = lambda sentence: " ".join(WORDS.get(w, w) for w in sentence.split())
    translator = Words(aligns=True)
    translator.engine = engine
    engine.rate = lambda sentences, texts, request: [
        Rated(Translation(text, score), score)
        for sentence, text in zip(sentences, texts, strict=True)
        for score in [-1.0 if sentence == text else -30.0 * ("equipa" in text) - 2.0]
    ]
    [best] = translator.translations("The dog sees the team", glossary={"team": "equipa"})
    assert best.text.split()[-1] == "equipa" and best.flags == ("term unlikely",)


@pytest.mark.parametrize(
    ("text", "words", "term", "expected"),
    [
        ("um hospital, sim", (1, 1), "posto", "um posto, sim"),
        ("Crian\u00e7as riem", (0, 0), "mi\u00fados", "Mi\u00fados riem"),
        ("o Palu Army Hospital, sim", (3, 3), "casa de cura", "o Palu Army Casa de Cura, sim"),
        ("na Casa Branca.", (1, 2), "Casa Alva", "na Casa Alva."),
        ("the team's dog", (1, 1), "squad", "the squad's dog"),
    ],
)
def test_words_are_replaced_with_their_capitals_and_marks(text, words, term, expected):
    spans, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        spans.append((start, start + len(word)))
        start += len(word)
    first, last = words
    draft = f"{text[: spans[first][0]]}{term}{text[spans[last][1] :]}"
    place = changed_place(text, draft, term)
    assert place.spans == tuple(spans[first : last + 1])
    ways = replacements(text, place, term, [])
    assert expected in [replaced(text, [way]) for way in ways]


def test_the_words_of_a_place_have_most_of_the_attention():
    sentence, translation = "a b c", "x y z"
    [term] = terms({"b": "t"}, sentence)
    alignment = align_words(
        np.array([[1, 0, 0], [0.1, 0.9, 0], [0, 0.6, 0.4]]),
        ["\u2581a", "\u2581b", "\u2581c"],
        ["\u2581x", "\u2581y", "\u2581z"],
    )
    place = aligned_place(alignment, sentence, term, translation)
    assert place.spans == ((2, 3), (4, 5)) and place.sure == ((2, 3),)
    assert aligned_place(alignment, sentence, term, "x y") is None


def test_sources_have_terms_or_names_and_answers_get_their_terms_back():
    sentence = "Team A sees the team."
    both = terms({"team": "equipa"}, sentence)
    assert with_translations(sentence, both).text == "Equipa A sees the equipa."
    named = with_names(sentence, both)
    assert named.text == "X1 A sees the X2."
    assert without_names("O X2 v\u00ea X1.", named, both) == "O equipa v\u00ea equipa."
    assert without_names("O X2 v\u00ea X1s.", named, both) is None
    assert with_names("X Y Z Q W V team", both[:1]) is None
    [house] = terms({"White House": "Casa Alva"}, "the White House")
    assert tidy('na "casa alva"', [house], "na Casa Branca") == "na Casa Alva"
