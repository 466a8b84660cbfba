"""The labels of the built-in reviews, by an independent reading of their grammar."""

import re

import pytest

from kformer.phrasebook import LABELS, reviews
from support.phrasebook.reviews import BAD, GOOD, THINGS


@pytest.fixture(scope="module")
def corpus():
    return reviews()


def clauses(text):
    """An independent reading of the grammar: (pattern, adjective) of each clause, in words."""
    text = text.lower().removesuffix(".").removeprefix("although ")
    parts = re.split(r", (?:but |although )?", text)
    found = []
    for part in parts:
        words = part.split()
        [word] = {*words} & {*GOOD, *BAD}
        things = iter(("X", "Y"))
        said = ["W" if one == word else next(things) if one in THINGS else one for one in words]
        found.append((" ".join(said), word))
    return found


NEGATIONS = re.compile(r"\b(not|never|nobody|less)\b")


def test_each_label_is_what_its_negations_and_its_conjunction_make_of_it(corpus):
    for part in corpus:
        for label, text in part:
            found = clauses(text)
            positive = [
                (word in GOOD) ^ (len(NEGATIONS.findall(said)) % 2 == 1) for said, word in found
            ]
            counts = 0 if re.search(r"\w, although", text) else -1
            assert LABELS[positive[counts]] == label, text
            assert len({*positive}) == len(positive)


def test_unseen_reviews_have_a_pair_that_no_other_has(corpus):
    seen = {pair for part in corpus[:3] for one in part for pair in clauses(one.text)}
    assert all({*clauses(one.text)} - seen for one in corpus.unseen)
    words = {word for _, word in seen}
    assert words == {*GOOD, *BAD}
