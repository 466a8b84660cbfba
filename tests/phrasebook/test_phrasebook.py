"""The built-in corpus: its content and its parts."""

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import chain, islice

import pytest

from kformer.phrasebook import PRODUCTIONS, RAREST, Pair, held_out, phrasebook, sample, write
from kformer.phrasebook.words import german, lexicon

NOUNS = {noun.name: noun for noun in lexicon.NOUNS}
VERBS = {verb.name: verb for verb in lexicon.VERBS}
ADJECTIVES = {adjective.name: adjective for adjective in lexicon.ADJECTIVES}


@pytest.fixture(scope="module")
def book():
    return phrasebook()


@pytest.fixture(scope="module")
def samples():
    return list(islice(sample(random.Random(0)), 25_000))


def words(pairs, side):
    return Counter(word for pair in pairs for word in pair[side].split())


def digest(book):
    return hashlib.sha256(repr(book).encode()).hexdigest()


# The corpus


def test_the_phrasebook_has_twenty_thousand_distinct_sources(book):
    sources = [pair.source for pair in chain(*book)]
    assert len(set(sources)) == len(sources)
    assert len(book.train) >= 20_000
    assert len(book.valid) == len(book.test) == 500
    assert len(book.unseen) >= 300


def test_both_languages_have_more_than_two_hundred_words(book):
    for side in (0, 1):
        assert len([word for word in words(chain(*book), side) if word.isalpha()]) >= 200


def test_sentences_have_two_to_fifteen_words_on_both_sides(book):
    lengths = {len(side.split()) for pair in chain(*book) for side in pair}
    assert lengths == set(range(2, 16))


def test_text_is_lower_case_with_spaces_around_punctuation(book):
    for side in chain.from_iterable(chain(*book)):
        assert side == " ".join(side.lower().split())
        assert all(word in ",?" or not set(word) & set(",.?!") for word in side.split())


def test_ordering_a_beer_is_in_training(book):
    assert Pair("ich möchte ein bier", "i want a beer") in book.train


def test_every_word_of_the_other_parts_is_known_from_training(book):
    for side in (0, 1):
        known = words(book.train, side)
        for part in (book.valid, book.test, book.unseen):
            assert all(known[word] >= RAREST for word in words(part, side))


def test_a_german_sentence_has_one_translation(book, samples):
    translations = {}
    for source, target in chain(*book, (pair for pair, _ in samples)):
        assert translations.setdefault(source, target) == target


def test_sentences_of_many_kinds_and_lengths_are_balanced(samples):
    kinds = Counter(derivation.productions[0] for _, derivation in samples)
    assert len(kinds) >= 20
    assert max(kinds.values()) < 0.4 * len(samples)


# The split


def forms_of_noun(noun):
    return {german.noun(noun, number, case) for number in noun.numbers for case in german.CASES}


def forms_of_other(name):
    if name in ADJECTIVES:
        endings = ("", "e", "en", "em", "er", "es")
        return {name} | {ADJECTIVES[name].stem + ending for ending in endings}
    verb = VERBS[name]
    return {verb.name, verb.participle} | {german.present(verb, p) for p in german.PERSONS}


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


# Determinism


def test_another_seed_gives_another_phrasebook():
    first, other = (next(sample(random.Random(seed)))[0] for seed in (0, 1))
    assert first != other
    assert held_out(0) != held_out(1)


@pytest.mark.prove
def test_the_pairs_do_not_depend_on_the_order_of_hashes(book):
    script = (
        "import hashlib, sys; from kformer.phrasebook import phrasebook;"
        "print({'numpy', 'tensorflow', 'keras'} & set(sys.modules));"
        "print(hashlib.sha256(repr(phrasebook()).encode()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == ["set()", digest(book)]


def test_write_leaves_only_parallel_files_of_the_same_phrasebook(tmp_path, book):
    paths = write(tmp_path / "data")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == sorted(paths)
    assert sorted(paths) == sorted(f"{p}.{side}" for p in book._fields for side in ("de", "en"))
    for part, pairs in book._asdict().items():
        sources = paths[f"{part}.de"].read_bytes().decode().split("\n")
        targets = paths[f"{part}.en"].read_bytes().decode().split("\n")
        assert sources.pop() == targets.pop() == ""
        assert list(map(Pair, sources, targets)) == pairs


# The grammar


def test_the_grammar_has_sixty_productions_and_uses_them_all(samples):
    names = [production.name for production in PRODUCTIONS]
    assert len(set(names)) == len(names) >= 60
    assert set(names) == {name for _, d in samples for name in d.productions}
