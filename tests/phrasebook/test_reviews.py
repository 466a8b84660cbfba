"""The built-in reviews: what they are, and that their words alone do not tell their labels."""

import re
from collections import Counter

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from kformer.phrasebook import reviews


@pytest.fixture(scope="module")
def corpus():
    return reviews.corpus()


def test_no_text_occurs_twice_and_labels_are_balanced(corpus):
    texts = [one.text for part in corpus for one in part]
    assert len({*texts}) == len(texts) == sum(reviews.SIZES.values()) > 5000
    for part in corpus:
        counts = Counter(one.label for one in part)
        assert {*counts} == {*reviews.LABELS}
        assert min(counts.values()) > 0.45 * len(part)


def clauses(text):
    """An independent reading of the grammar: (pattern, adjective) of each clause, in words."""
    parts = re.split(r" , (?:but |although )?", text.removeprefix("although "))
    found = []
    for part in parts:
        words = part.split()
        [word] = {*words} & {*reviews.GOOD, *reviews.BAD}
        things = iter(("X", "Y"))
        said = [
            "W" if one == word else next(things) if one in reviews.THINGS else one for one in words
        ]
        found.append((" ".join(said), word))
    return found


NEGATIONS = re.compile(r"\b(not|never|nobody|less)\b")


def test_each_label_is_what_its_negations_and_its_conjunction_make_of_it(corpus):
    for part in corpus:
        for label, text in part:
            found = clauses(text)
            positive = [
                (word in reviews.GOOD) ^ (len(NEGATIONS.findall(said)) % 2 == 1)
                for said, word in found
            ]
            counts = 0 if re.search(r"\w , although", text) else -1
            assert reviews.LABELS[positive[counts]] == label, text
            assert len({*positive}) == len(positive)


def test_unseen_reviews_have_a_pair_that_no_other_has(corpus):
    seen = {pair for part in corpus[:3] for one in part for pair in clauses(one.text)}
    assert all({*clauses(one.text)} - seen for one in corpus.unseen)
    words = {word for _, word in seen}
    assert words == {*reviews.GOOD, *reviews.BAD}


def test_the_same_seed_gives_the_same_reviews(corpus, tmp_path):
    paths = reviews.write(tmp_path)
    assert {name: len(path.read_text("utf-8").splitlines()) for name, path in paths.items()} == (
        reviews.SIZES
    )
    first = corpus.train[0]
    assert paths["train"].read_text("utf-8").startswith(f"{first.label}\t{first.text}\n")
    assert reviews.corpus(1).train != corpus.train


def test_a_bag_of_words_cannot_read_negation_and_contrast(corpus):
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    bags = vectorizer.fit_transform([one.text for one in corpus.train])
    model = LogisticRegression(max_iter=1000).fit(bags, [one.label for one in corpus.train])
    turning = [one for one in corpus.test if reviews.TURNING & {*one.text.split()}]
    assert len(turning) > len(corpus.test) / 2
    texts, labels = zip(*((one.text, one.label) for one in turning), strict=True)
    assert model.score(vectorizer.transform(texts), labels) < 0.6
