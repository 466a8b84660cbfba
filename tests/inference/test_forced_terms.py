"""Terms put into translations, with a script in place of a model."""

import difflib
import string

from hypothesis import given
from hypothesis import strategies as st

from kformer import Glossary
from kformer.inference.forced_terms import (
    Draft,
    Writer,
    candidates_with,
    force_terms,
    word_losses,
)
from kformer.inference.glossary import missed_terms

WORD = st.text(string.ascii_lowercase, min_size=1, max_size=6)
SENTENCE = st.lists(WORD, min_size=1, max_size=20).map(lambda words: " ".join(words) + ".")


class Script:
    """Likes texts that resemble `best`, and goes on with the rest of it."""

    def __init__(self, best):
        self.best, self.calls = best, []

    def score(self, numbers, texts, sources=None):
        self.calls.append(len(texts))
        return [
            Draft(text, difflib.SequenceMatcher(None, text, self.best[number]).ratio(), text)
            for number, text in zip(numbers, texts, strict=True)
        ]

    def go_on(self, numbers, beginnings):
        texts = [
            beginning + self.best[number][len(beginning) :]
            for number, beginning in zip(numbers, beginnings, strict=True)
        ]
        return self.score(numbers, texts)


@given(SENTENCE, st.sets(WORD, min_size=1, max_size=4), SENTENCE)
def test_every_term_is_in_the_translation(sentence, targets, translation):
    words = sentence.rstrip(".").split()
    glossary = Glossary(dict(zip(words, sorted(targets), strict=False)))
    script = Script([translation])
    forced = force_terms(glossary, [sentence], [translation], Writer(script.score, script.go_on))
    if glossary.find(sentence):
        text = translation if forced[0].answer is None else forced[0].answer
        assert not forced[0].missed
        assert missed_terms(glossary.find(sentence), text) == []


def test_the_best_place_and_ending_win():
    best = "Die alten Hunde bellen die Katze an."
    script = Script([best])
    [(number, forced)] = force_terms(
        Glossary({"dogs": "Hund"}),
        ["The old dogs bark at the cat."],
        ["Die alten Tiere bellen die Katze an."],
        Writer(script.score, script.go_on),
    ).items()
    assert (number, forced.answer, forced.missed) == (0, best, False)
    assert len(script.calls) == 2  # All candidates at once, and what goes on.


def test_without_a_way_to_go_on_the_term_stands_in_place_of_a_word():
    script = Script(["Der Hund schläft."])
    forced = force_terms(
        Glossary({"dog": "Hund"}), ["The dog sleeps."], ["Der Köter schläft."], Writer(script.score)
    )
    assert forced[0].answer == "Der Hund schläft."


def test_sentences_without_terms_and_translations_that_have_theirs_stay():
    sentences, translations = ["A cat.", "A dog.", "A dog."], ["Katze.", "Hunde.", "Tier."]
    script = Script([*translations[:2], "Hund."])
    forced = force_terms(Glossary({"dog": "Hund"}), sentences, translations, Writer(script.score))
    assert {number: each.answer for number, each in forced.items()} == {1: None, 2: "Hund."}


def test_a_term_that_the_model_cannot_write_is_missed_and_others_are_not():
    def score(numbers, texts, sources=None):
        texts = [text.replace("犬", "?") for text in texts]
        return [Draft(text, -len(text), text) for text in texts]

    glossary = Glossary({"dog": "犬", "cat": "Katze"})
    forced = force_terms(glossary, ["A dog, a cat."], ["Tier, Tier."], Writer(score))
    assert "Katze" in forced[0].answer and forced[0].missed


def test_candidates_keep_punctuation_spaces_and_capitals():
    [dog] = Glossary({"dog": "hound"}).find("dog sleeps")
    texts = [candidate.text for candidate in candidates_with("“Beasts sleep, now.”", dog)]
    assert {"“Hound sleep, now.”", "“Beasts hound, now.”", "“Beasts sleep, now hound.”"} <= {*texts}
    assert {"“Beasts hound sleep, now.”", "“Beasts sleep, hound.”"} <= {*texts}
    assert len({*texts}) == len(texts)
    [dog] = Glossary({"dog": "犬"}).find("a dog")
    texts = [candidate.text for candidate in candidates_with("猫です。", dog)]
    assert {"犬です。", "猫犬す。", "猫で犬す。"} <= {*texts}
    assert [candidate.text for candidate in candidates_with("...", dog)] == ["犬"]


def test_the_word_that_stood_for_the_term_does_not_stay():
    """The model would like to keep it, but it becomes unlikely without its source."""
    script = Script(["The dog hound sleeps."])
    sources = []

    def lose(numbers, others, texts):
        sources.extend(others)
        return [[0.1, 5.0, 0.2] for _ in texts]

    glossary, arguments = Glossary({"Hund": "hound"}), (["Der Hund schläft."], ["The dog sleeps."])
    forced = force_terms(glossary, *arguments, Writer(script.score, script.go_on))
    assert forced[0].answer == "The dog hound sleeps."
    forced = force_terms(glossary, *arguments, Writer(script.score, script.go_on, lose))
    assert forced[0].answer == "The hound sleeps."
    assert sources == ["Der schläft."]


def test_the_losses_of_a_word_are_those_of_its_pieces():
    pieces = ["\u2581The", "\u2581do", "g", "."]
    assert word_losses(pieces, [-1.0, -2.0, -3.0, 0.0], [-1.5, -4.0, -3.0, -0.25]) == [0.5, 2.25]
