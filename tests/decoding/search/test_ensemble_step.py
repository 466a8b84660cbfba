"""A search over several steps, against searches over the mean of their probabilities by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer import Beam, Greedy
from kformer.decoding.search.constraints import RepetitionPenalty
from kformer.decoding.search.ensemble_step import EnsembleStep
from kformer.decoding.search.search_loop import Step
from support.scripted import (
    END,
    T,
    V,
    beam_by_hand,
    greedy_by_hand,
    length_penalised,
    log_probabilities,
    padded,
    random_looks,
    random_votes,
    rows,
    scripted,
    search,
)

seeds = st.integers(0, 10**6)


def together(searcher, several, max_lengths, looks=(None, None, None)):
    """`search`, over the votes (B, T, V, V) and looks of several models."""
    of_models = zip(several, looks, strict=False)
    started = [scripted(votes, searcher.beam_size, look) for votes, look in of_models]
    steps, caches = zip(*started, strict=True)
    source = {} if looks[0] is None else {"source_length": looks[0].shape[-1]}
    max_lengths = np.array(max_lengths, "int32")
    return rows(searcher(EnsembleStep(steps), caches, max_lengths, T, **source))


def mean(several, ids):
    """The logarithm of the mean probability of each next id, by rows (T, V, V) of votes."""
    return np.log(np.mean([np.exp(log_probabilities(votes, ids)) for votes in several], axis=0))


def constrained(several):
    """Replaces the log-probabilities of the searches by hand, which know one model alone."""
    return lambda _, ids: mean(several, ids)


@given(seeds, st.integers(1, 3), st.integers(1, T))
def test_greedy_takes_what_the_models_together_find_best(seed, models, max_length):
    several = [random_votes(1, seed + i) for i in range(models)]
    ids, scores, _ = together(Greedy(), several, [max_length])
    by_hand = [votes[0] for votes in several]
    expected_ids, expected = greedy_by_hand(by_hand[0], max_length, constrained(by_hand))
    assert ids.tolist() == [[padded(expected_ids, T)]]
    assert scores[0, 0] == pytest.approx(expected, abs=1e-4)


@given(seeds, st.integers(1, 4), st.sampled_from([0.0, 0.6, 1.0]))
def test_a_beam_is_the_beam_by_hand(seed, beam_size, length_penalty):
    several = [random_votes(1, seed + i) for i in range(2)]
    searcher = Beam(beam_size, length_penalty, n_best=beam_size)
    ids, scores, ended = together(searcher, several, [T])
    by_hand = [votes[0] for votes in several]
    expected = beam_by_hand(
        by_hand[0], T, beam_size, length_penalty, beam_size, constrain=constrained(by_hand)
    )
    for i, (whole, score, found) in enumerate(expected):
        assert ids[0, i].tolist() == padded(found, T)
        assert scores[0, i] == pytest.approx(score, abs=1e-4)
        assert ended[0, i] == whole


@pytest.mark.prove
@given(seeds)
def test_a_wide_beam_finds_what_the_models_together_find_best_of_all_sequences(seed):
    several = [random_votes(1, seed + i) for i in range(2)]
    words = [i for i in range(V) if i != END]
    ended = [[*ids, END] for length in range(T) for ids in product(words, repeat=length)]
    cut = [[*ids] for ids in product(words, repeat=T)]

    def score(ids):
        gains = [mean([v[0] for v in several], ids[:t])[i] for t, i in enumerate(ids)]
        return length_penalised(sum(gains), len(ids), 0.6)

    best = max([*ended, *cut], key=score)
    ids, scores, _ = together(Beam(64, 0.6), several, [T])
    assert ids.tolist() == [[padded(best, T)]]
    assert scores[0, 0] == pytest.approx(score(best), abs=1e-4)


PENALISED = Greedy(constraints=[RepetitionPenalty(3.0)])


@pytest.mark.prove
@pytest.mark.parametrize(
    "searcher", [Greedy(), Beam(3, n_best=2), PENALISED], ids=["greedy", "beam", "penalised"]
)
def test_an_ensemble_of_one_model_twice_is_the_model(searcher):
    votes = random_votes(5, seed=2)
    alone = rows(search(searcher, votes, [T] * 5))
    for found, expected in zip(together(searcher, [votes, votes], [T] * 5), alone, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.prove
@pytest.mark.parametrize("searcher", [Greedy(), Beam(3, n_best=2)], ids=["greedy", "beam"])
def test_rows_do_not_depend_on_each_other(searcher):
    """Rows that have ended leave the batch of every model."""
    several = [random_votes(7, seed) for seed in (3, 4)]
    lengths = [4, 1, 3, 4, 2, 4, 1]
    batch = together(searcher, several, lengths)
    for row, length in enumerate(lengths):
        alone = together(searcher, [votes[row : row + 1] for votes in several], [length])
        for found, expected in zip(batch, alone, strict=True):
            np.testing.assert_allclose(found[row], expected[0], atol=1e-5)


def test_the_models_attend_together():
    """The coverage penalty reads the mean of their attention."""
    votes, looks = random_votes(1, seed=5), [random_looks(1, 5, seed) for seed in (6, 7)]
    searcher = Beam(3, 0.6, n_best=3, coverage_penalty=0.4)
    ids, scores, _ = together(searcher, [votes, votes], [T], looks)
    expected_ids, expected, _ = rows(search(searcher, votes, [T], np.mean(looks, axis=0)))
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_allclose(scores, expected, atol=1e-4)


class _Grown(Step):
    """A step whose cache tells what was done to it."""

    compact_batch, capacities, block = None, (2, 3), 2

    def __init__(self, name):
        self._name = name

    def flush(self, cache, start):
        return [*cache, f"{self._name} flushed at {start}"]

    def grow(self, cache, positions):
        return [*cache, f"{self._name} grew to {positions}"]

    def rebuild(self):
        return _Grown(f"{self._name} rebuilt")


def test_every_model_keeps_its_own_cache():
    step = EnsembleStep([_Grown("a"), _Grown("b")])
    assert (step.block, step.capacities, step.compact_batch) == (2, (2, 3), None)
    assert step.flush(([], []), 4) == (["a flushed at 4"], ["b flushed at 4"])
    rebuilt = step.rebuild()
    assert rebuilt.grow(([], []), 3) == (["a rebuilt grew to 3"], ["b rebuilt grew to 3"])
