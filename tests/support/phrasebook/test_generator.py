"""The generator of the built-in text: which sentences it makes, and what the parts share."""

import lzma
import os
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import chain, islice

import pytest

from kformer.phrasebook import Pair, Phrasebook, phrasebook
from support import REPOSITORY, TESTS
from support.phrasebook import PRODUCTIONS, held_out, sample
from support.phrasebook.words import german, lexicon
from support.phrasebook.writing import everyday, hurried, tokens, written

NOUNS = {noun.name: noun for noun in lexicon.NOUNS}
VERBS = {verb.name: verb for verb in lexicon.VERBS}
ADJECTIVES = {adjective.name: adjective for adjective in lexicon.ADJECTIVES}


@pytest.fixture(scope="module")
def book():
    """The sentences of the package as the grammar has them."""
    return Phrasebook(*([Pair(*map(tokens, pair)) for pair in part] for part in phrasebook()))


@pytest.fixture(scope="module")
def samples():
    return list(islice(sample(random.Random(0)), 25_000))


@pytest.mark.prove
def test_the_package_contains_what_the_generator_writes():
    """Under another order of hashes, too, and without a library that computes."""
    script = (
        "import sys; from support.phrasebook.__main__ import content;"
        "sys.stdout.buffer.write(content().encode());"
        "sys.exit(bool({'numpy', 'tensorflow', 'keras'} & {*sys.modules}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    shipped = (REPOSITORY / "kformer" / "phrasebook.xz").read_bytes()
    assert run.stdout == lzma.decompress(shipped)


def test_another_seed_gives_other_sentences():
    first, other = (next(sample(random.Random(seed)))[0] for seed in (0, 1))
    assert first != other
    assert held_out(0) != held_out(1)


@pytest.mark.prove
def test_a_german_sentence_has_one_translation_however_it_is_written(samples):
    translations = {}
    for pair in chain(*phrasebook(), (pair for pair, _ in samples)):
        source, target = map(bare, pair)
        assert translations.setdefault(source, target) == target


def bare(text):
    """Returns the letters of a sentence alone."""
    return " ".join(re.findall(r"[\w'-]+", text.lower()))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Ich möchte ein Bier.", "I want a beer."),
        ("Kommt Anna am Morgen?", "Does Anna come in the morning?"),
        ("Morgen muss er zu Hause bleiben.", "Tomorrow he has to stay at home."),
        ("Er kommt um Viertel vor vier.", "He comes at a quarter to four."),
        ("Wenn es regnet, helfe ich drei Männern.", "When it is raining, I help three men."),
    ],
)
def test_sentences_are_written_with_capital_letters_and_marks(source, target):
    assert written(Pair(tokens(source), tokens(target))) == (source, target)


def test_who_is_in_a_hurry_leaves_out_capital_letters_and_marks():
    text, rng = "Wenn es regnet, bleibe ich zu Hause.", random.Random(0)
    found = {hurried(text, rng) for _ in range(200)}
    assert "wenn es regnet, bleibe ich zu hause" in found and len(found) == 7
    assert {re.sub("[,.]", "", one.lower()) for one in found} == {
        "wenn es regnet bleibe ich zu hause"
    }
    assert text not in found


def test_everyday_sentences_are_in_training_in_every_way_of_writing():
    pairs = dict(everyday())
    assert pairs.items() <= {*phrasebook().train}
    assert pairs["Guten Morgen!"] == "Good morning!"
    assert pairs["Guten Morgen."] == pairs["guten morgen"] == "Good morning."


@pytest.mark.prove
def test_sentences_of_many_kinds_and_lengths_are_balanced(samples):
    kinds = Counter(derivation.productions[0] for _, derivation in samples)
    assert len(kinds) >= 20
    assert max(kinds.values()) < 0.4 * len(samples)


@pytest.mark.prove
def test_the_grammar_has_sixty_productions_and_uses_them_all(samples):
    names = [production.name for production in PRODUCTIONS]
    assert len(set(names)) == len(names) >= 60
    assert set(names) == {name for _, d in samples for name in d.productions}


# The split


def forms_of_noun(noun):
    return {german.noun(noun, number, case) for number in noun.numbers for case in german.CASES}


def forms_of_other(name):
    if name in ADJECTIVES:
        endings = ("", "e", "en", "em", "er", "es")
        return {name} | {ADJECTIVES[name].stem + ending for ending in endings}
    verb = VERBS[name]
    return {verb.name, verb.participle} | {german.present(verb, p) for p in german.PERSONS}


def words(pairs, side):
    return Counter(word for pair in pairs for word in pair[side].split())


def joint(pairs, noun, other):
    """The pairs whose source holds a form of both lemmas."""
    nouns, others = forms_of_noun(NOUNS[noun]), forms_of_other(other)
    split = ((pair, set(pair.source.split())) for pair in pairs)
    return {pair for pair, found in split if found & nouns and found & others}


def test_only_unseen_sentences_combine_held_out_pairs(book):
    for noun, other in held_out():
        assert not joint(chain(book.train, book.valid, book.test), noun, other)


def test_every_unseen_sentence_combines_a_held_out_pair(book):
    joints = [joint(book.unseen, noun, other) for noun, other in held_out()]
    assert set().union(*joints) == set(book.unseen)
    assert min(len(found) for found in joints) >= 3


def test_held_out_pairs_are_nouns_with_verbs_or_adjectives():
    others = [other for _, other in held_out()]
    assert sum(other in VERBS for other in others) >= 10
    assert sum(other in ADJECTIVES for other in others) >= 10


def test_training_has_the_words_of_held_out_pairs_in_other_combinations(book):
    known = words(book.train, 0)
    for noun, other in held_out():
        assert sum(known[form] for form in forms_of_noun(NOUNS[noun])) >= 50
        assert sum(known[form] for form in forms_of_other(other)) >= 50
