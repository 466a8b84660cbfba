"""Parsing English sentences by the grammar, against sampling and against full enumeration."""

import random
from itertools import islice, product

import pytest

from support.phrasebook import LENGTHS, PRODUCTIONS, derivation, held_out, sample
from support.phrasebook.derivation import Derivation, Nonsense
from support.phrasebook.parsing import parse
from support.phrasebook.words.lexicon import ADJECTIVES_FOR, NOUNS_OF, VERBS_OF

pytestmark = pytest.mark.prove


def check(sentence):
    """Parses; what is accepted must follow from the grammar, by the choices that were found."""
    parsed = parse(sentence)
    if parsed:
        pair, found = parsed
        assert pair.target == sentence
        assert all(len(side.split()) in LENGTHS for side in pair)
        assert found.productions
    return parsed is not None


@pytest.fixture(scope="module")
def samples():
    return list(islice(sample(random.Random(1)), 4000))


# Sentences of the grammar


def rejected(samples):
    return [pair.target for pair, _ in samples if not check(pair.target)]


def with_held_out_words(samples):
    return [(pair, d) for pair, d in samples if d.pairs & held_out()]


def test_many_sampled_sentences_are_accepted(samples):
    assert rejected(samples[:1000]) == []
    assert len(with_held_out_words(samples)) >= 50
    assert rejected(with_held_out_words(samples)) == []


def test_every_production_is_accepted(samples):
    unseen = {production.name for production in PRODUCTIONS}
    for pair, found in samples:
        if unseen & {*found.productions}:
            assert check(pair.target), pair
            unseen -= {*found.productions}
    assert not unseen


def test_two_short_statements_joined_by_and_are_a_sentence(samples):
    statements = [p for p, d in samples if d.productions[0] == "statement"]
    short = [p.target for p in statements if max(len(side.split()) for side in p) <= 7]
    for first, second in zip(short[:8], short[8:16], strict=True):
        assert check(f"{first} and {second}")


# Other text


@pytest.mark.parametrize(
    "text",
    [
        *("", "i", "sleep i", "i sleeps", "i  sleep", " i sleep", "I sleep", "i sleep ."),
        *("i drink an tea", "a old dog sleeps", "i see", "i see the", "the dogs sleeps"),
        *("do i drink tea ?", "i drink books", "i see me", "the red red hat is here"),
        *("i am twelve year old", "he sleep because he is sick", "it is thirteen o'clock"),
        *("i sleep and", "i sleep he sleeps", "do you sleep", "why you sleep ?", "xyzzy plugh"),
    ],
)
def test_text_that_the_grammar_cannot_derive_is_rejected(text):
    assert parse(text) is None


def test_a_sentence_that_is_too_long_is_rejected():
    assert check("i sleep and he sleeps")
    assert not check("i sleep in the park in the evening and he sleeps in the park in the evening")


def corruptions(rng, sentence, words):
    """The sentence with its words shuffled, with one replaced, with one left out, and repeated."""
    old = sentence.split()
    at = rng.randrange(len(old))
    yield rng.sample(old, len(old))
    yield [*old[:at], rng.choice(words), *old[at + 1 :]]
    yield [*old[:at], *old[at + 1 :]]
    yield (2 * old)[: max(LENGTHS)]


def test_corrupted_sentences_are_rejected_unless_a_derivation_yields_them(samples):
    rng = random.Random(2)
    words = sorted({word for pair, _ in samples for word in pair.target.split()})
    accepted = [
        check(" ".join(changed))
        for pair, _ in samples[:150]
        for changed in corruptions(rng, pair.target, words)
    ]
    assert 0 < sum(accepted) < 0.2 * len(accepted)


# All sentences of a small part of the grammar


FEW_PRODUCTIONS = {
    *("statement", "yes_no_question", "event", "activity", "resting", "transitive"),
    *("present", "perfect", "modal"),
    *("affirmed", "negated", "affirmed_object", "object_with_nicht", "object_with_kein"),
    *("no_circumstance", "how_often", "as_of_an_action", "subject_pronoun", "speaker", "hearer"),
    *("specific", "definite", "demonstrative", "bare_noun", "adjective_and_noun", "denied"),
    *("some", "one_of_many", "indefinite", "not_possessed", "person_as_object"),
}
FEW_WORDS = {"hund", "sehen", "schlafen", "klein"}  # Pronouns, modals and frequencies stay.


@pytest.fixture
def small(monkeypatch):
    """Reduces the grammar to a few words and productions, and returns its sentences."""
    few = [p for p in PRODUCTIONS if p.name in FEW_PRODUCTIONS]
    monkeypatch.setattr(derivation, "PRODUCTIONS", few)
    monkeypatch.setattr(derivation, "_alternatives", {})
    for words_by_key in (NOUNS_OF, VERBS_OF, ADJECTIVES_FOR):
        for key, words in words_by_key.items():
            kept = tuple(word for word in words if word.name in FEW_WORDS)
            monkeypatch.setitem(words_by_key, key, kept)
    return enumerated()


class Enumerated(Derivation):
    """Chooses the options with the given indices, then the first ones."""

    def __init__(self, indices):
        super().__init__(self.choose_next)
        self.indices, self.numbers = list(indices), []

    def choose_next(self, options, cumulative_weights=None):
        if not options:
            raise Nonsense("No word is left.")
        if len(self.numbers) == len(self.indices):
            self.indices.append(0)
        self.numbers.append(len(options))
        return options[self.indices[len(self.numbers) - 1]]

    def pick(self, words, but=()):
        return super().pick([word for word in words if word not in but])


def enumerated():
    """Counts through all sequences of choices, without regard to any sentence."""
    sentences, indices = set(), []
    while True:
        one = Enumerated(indices)
        try:
            pair = one.derive("Sentence")
        except Nonsense:
            pass
        else:
            if all(len(side.split()) in LENGTHS for side in pair):
                sentences.add(pair.english)
        indices = one.indices[: len(one.numbers)]
        while indices and indices[-1] + 1 >= one.numbers[len(indices) - 1]:
            indices.pop()
        if not indices:
            return sentences
        indices[-1] += 1


def test_a_small_grammar_accepts_its_sentences_and_no_other_string_of_its_words(small):
    assert len(small) > 3000
    assert all(map(check, small))
    words = ["cannot", "do", "dog", "i", "see", "sleep", "the", "you", "?"]
    strings = {" ".join(chosen) for n in range(1, 6) for chosen in product(words, repeat=n)}
    expected = small & strings
    assert len(expected) >= 8
    assert {string for string in strings if check(string)} == expected
