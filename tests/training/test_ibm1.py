"""IBM model 1 against dictionaries and loops, and its arithmetic on a corpus of two words."""

from collections import defaultdict

import numpy as np
import pytest

from kformer.training.data import lexicon as ibm1
from kformer.training.data.lexicon import SentenceIds, learn_lexicon


def rows(sentences):
    ids = np.array([i for sentence in sentences for i in sentence], np.int32)
    return SentenceIds(ids, np.array([len(sentence) for sentence in sentences]))


@pytest.fixture(scope="module")
def corpus():
    """Random sentences of several lengths, with words that repeat."""
    random = np.random.default_rng(7)
    return [
        [random.integers(0, vocabulary, random.integers(1, 6)).tolist() for _ in range(53)]
        for vocabulary in (11, 13)
    ]


def by_hand(sources, targets, iterations):
    """Expectation maximisation as section 4.1 of the paper has it: (source, target) -> t."""
    probability = defaultdict(lambda: 1.0)
    for _ in range(iterations):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in zip(sources, targets, strict=True):
            for t in target:
                total = sum(probability[s, t] for s in source)
                for s in source:
                    share = probability[s, t] / total
                    counts[s, t] += share
                    totals[s] += share
        probability = {(s, t): count / totals[s] for (s, t), count in counts.items()}
    return probability


def as_dict(lexicon):
    pairs = zip(lexicon.sources.tolist(), lexicon.targets.tolist(), strict=True)
    return dict(zip(pairs, lexicon.probabilities, strict=True))


@pytest.mark.parametrize("links", [1, 60, 10**6], ids=["pair by pair", "in chunks", "at once"])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_it_learns_what_loops_over_dictionaries_learn(corpus, iterations, links, monkeypatch):
    monkeypatch.setattr(ibm1, "_LINKS", links)
    found = as_dict(learn_lexicon(*map(rows, corpus), iterations))
    expected = by_hand(*corpus, iterations)
    assert found.keys() == expected.keys()
    for pair, probability in expected.items():
        assert found[pair] == pytest.approx(probability, rel=1e-9)


def test_probabilities_of_a_source_id_sum_to_1(corpus):
    lexicon = learn_lexicon(*map(rows, corpus))
    sums = np.bincount(lexicon.sources, lexicon.probabilities)
    np.testing.assert_allclose(sums, 1.0)


def test_what_one_pair_tells_explains_another():
    """ "das haus" and "das buch": what both have is "the", so "haus" is what is left."""
    das, haus, buch, the, house, book = 0, 1, 2, 0, 1, 2
    pairs = rows([[das, haus], [das, buch]]), rows([[the, house], [the, book]])
    first, later = (as_dict(learn_lexicon(*pairs, iterations)) for iterations in (1, 20))
    assert first[haus, house] == first[haus, the] == 0.5
    assert min(later[das, the], later[haus, house], later[buch, book]) > 0.95


def test_where_memory_is_short_the_rarest_pairs_are_left_out(corpus, monkeypatch):
    monkeypatch.setattr(ibm1, "_LINKS", 60)
    whole = learn_lexicon(*map(rows, corpus))
    bounded = learn_lexicon(*map(rows, corpus), max_entries=50)
    assert len(whole.sources) > 100
    assert len(bounded.sources) == 50
    assert as_dict(bounded).keys() <= as_dict(whole).keys()
    np.testing.assert_allclose(
        np.bincount(bounded.sources, bounded.probabilities)[np.unique(bounded.sources)], 1.0
    )


def test_progress_counts_every_pair_in_every_iteration(corpus):
    done = []
    learn_lexicon(*map(rows, corpus), iterations=3, progress=done.append)
    assert sum(done) == 3 * 53
