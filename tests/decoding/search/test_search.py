"""Search over a scripted step, against searches written out by hand."""

from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from kformer import Beam, Greedy
from kformer.decoding.search.constraints import Spelling
from kformer.decoding.search.continuations import NEG_INF
from kformer.decoding.search.search_loop import StepOutput
from support.scripted import (
    END,
    START,
    FunctionStep,
    T,
    V,
    beam_by_hand,
    greedy_by_hand,
    length_penalised,
    log_probabilities,
    padded,
    random_votes,
    rows,
    scripted,
    search,
)

seeds = st.integers(0, 10**6)


def all_sequences(votes, max_length, length_penalty, offset=5):
    """Every sequence there is as (ended, score, ids), best first."""
    found = []
    words = [i for i in range(V) if i != END]
    for length in range(1, max_length + 1):
        for ids in product(words, repeat=length - 1):
            lasts = range(V) if length == max_length else [END]
            for last in lasts:
                whole = [*ids, last]
                score = sum(log_probabilities(votes, whole[:t])[i] for t, i in enumerate(whole))
                score = length_penalised(score, length, length_penalty, offset)
                found.append((last == END, score, whole))
    return sorted(found, key=lambda one: one[1], reverse=True)


@given(seeds, st.integers(1, T))
def test_greedy_is_a_loop_over_the_best_id(seed, max_length):
    votes = random_votes(1, seed)
    ids, scores, ended = rows(search(Greedy(), votes, [max_length]))
    expected_ids, expected_score = greedy_by_hand(votes[0], max_length)
    assert ids.tolist() == [[padded(expected_ids, T)]]
    assert scores[0, 0] == pytest.approx(expected_score, abs=1e-4)
    assert ended[0, 0] == (END in expected_ids)


@given(seeds, st.integers(1, T), st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.sampled_from([5.0, 0.0]))
def test_a_wide_beam_finds_the_best_of_all_sequences(seed, max_length, length_penalty, offset):
    votes = random_votes(1, seed)
    expected = all_sequences(votes[0], max_length, length_penalty, offset)
    count = min(5, len(expected))
    beam = Beam(V**T, length_penalty, count, length_offset=offset)
    ids, scores, ended = rows(search(beam, votes, [max_length]))
    for n, (best_ended, best_score, best_ids) in enumerate(expected[:count]):
        assert ids[0, n].tolist() == padded(best_ids, T)
        assert scores[0, n] == pytest.approx(best_score, abs=1e-4)
        assert ended[0, n] == best_ended


@pytest.mark.prove
@given(seeds, st.integers(1, T), st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.data())
def test_a_narrow_beam_keeps_the_best_and_ends_when_enough_have_ended(
    seed, max_length, length_penalty, data
):
    beam_size = data.draw(st.integers(1, 5))
    n_best = data.draw(st.integers(1, beam_size))
    votes = random_votes(1, seed)
    ids, scores, ended = rows(search(Beam(beam_size, length_penalty, n_best), votes, [max_length]))
    expected = beam_by_hand(votes[0], max_length, beam_size, length_penalty, n_best)
    for n, (best_ended, best_score, best_ids) in enumerate(expected):
        assert ids[0, n].tolist() == padded(best_ids, T)
        assert scores[0, n] == pytest.approx(best_score, abs=1e-4)
        assert ended[0, n] == best_ended


@pytest.mark.prove
@given(seeds, st.lists(st.integers(1, T), min_size=1, max_size=3))
def test_one_beam_is_greedy(seed, max_lengths):
    votes = random_votes(len(max_lengths), seed)
    for greedy, beam in zip(
        rows(search(Greedy(), votes, max_lengths)),
        rows(search(Beam(beam_size=1, length_penalty=0), votes, max_lengths)),
        strict=True,
    ):
        np.testing.assert_allclose(greedy, beam, atol=1e-5)


@settings(max_examples=min(30, settings.default.max_examples))
@given(seeds, st.integers(1, 5), st.lists(st.integers(0, T), min_size=2, max_size=4))
def test_a_row_is_not_changed_by_its_neighbours(seed, beam_size, max_lengths):
    votes = random_votes(len(max_lengths), seed)
    for searcher in (Greedy(), Beam(beam_size)):
        together = rows(search(searcher, votes, max_lengths))
        for row, max_length in enumerate(max_lengths):
            alone = rows(search(searcher, votes[row : row + 1], [max_length]))
            for one, other in zip(together, alone, strict=True):
                np.testing.assert_allclose(one[row], other[0], atol=1e-5)
            assert not together[0][row, :, max_length:].any()


@pytest.mark.prove
@settings(max_examples=min(50, settings.default.max_examples))
@given(seeds, st.integers(2, 6), st.data())
def test_the_n_best_differ_and_are_sorted(seed, beam_size, data):
    n_best = data.draw(st.integers(2, beam_size))
    ids, scores, _ = rows(
        search(Beam(beam_size, n_best=n_best), random_votes(3, seed), [T, T - 1, T])
    )
    for row in range(3):
        assert len({tuple(best) for best in ids[row]}) == n_best
        assert (np.diff(scores[row]) <= 0).all()


def test_a_cut_sequence_is_better_than_an_ended_one_of_a_lower_score():
    votes = np.zeros((1, T, V, V))
    votes[0, :, :, 1] = 20  # All say 1, on and on.
    votes[0, 0, START, END] = 10  # Ending at once has a log-probability of -10.
    ids, scores, ended = rows(search(Beam(2, n_best=2), votes, [T]))
    assert ids[0, 0].tolist() == [1] * T
    assert ended.tolist() == [[False, True]] and scores[0, 0] > -0.1 > -5 > scores[0, 1]


@pytest.mark.prove
@given(seeds, st.integers(1, T), st.integers(1, 5), st.sampled_from([0.0, 1.0]))
def test_a_narrowing_beam_is_the_beam_by_hand(seed, max_length, beam_size, length_penalty):
    """Each sequence that ends leaves one beam less."""
    votes = random_votes(2, seed)
    beam = Beam(beam_size, length_penalty, beam_size, length_offset=5.0, narrowing=True)
    ids, scores, ended = rows(search(beam, votes, [max_length, T]))
    for row, longest in enumerate([max_length, T]):
        expected = beam_by_hand(
            votes[row], longest, beam_size, length_penalty, beam_size, narrowing=True
        )
        for n, (best_ended, best_score, best_ids) in enumerate(expected):
            assert ids[row, n].tolist() == padded(best_ids, T)
            assert scores[row, n] == pytest.approx(best_score, abs=1e-4)
            assert ended[row, n] == best_ended


@pytest.mark.prove
@given(seeds, st.integers(1, T), st.integers(2, 5), st.booleans())
def test_of_sequences_that_spell_one_text_a_wide_beam_returns_the_best(
    seed, max_length, n_best, narrowing
):
    """Ids 0, 1 and 2 spell a, b and ab; the end id nothing, so that a cut sequence may be equal."""
    spelled = [b"a", b"b", b"ab", b""]
    votes, of_texts = random_votes(1, seed), {}
    for one in all_sequences(votes[0], max_length, 0.6):
        of_texts.setdefault(b"".join(spelled[i] for i in one[2]), one)
    expected = [*of_texts.values()][:n_best]
    beam = Beam(V**T, 0.6, n_best, spelling=Spelling(spelled), narrowing=narrowing)
    ids, scores, ended = rows(search(beam, votes, [max_length]))
    for n, (best_ended, best_score, best_ids) in enumerate(expected):
        assert ids[0, n].tolist() == padded(best_ids, T)
        assert scores[0, n] == pytest.approx(best_score, abs=1e-4)
        assert ended[0, n] == best_ended
    assert (scores[0, len(expected) :] == NEG_INF).all()


def test_a_hash_of_a_text_does_not_depend_on_its_pieces():
    spelling, hashes = Spelling([b"a", "ß".encode(), b"a\xc3", b"\x9f", b""]), {}
    for ids in ([0, 1], [2, 3], [4, 2, 4, 3], [1, 0], [0, 4]):
        value = np.zeros((1, 1), "int32")
        for i in ids:
            value = np.array(spelling.extended(value, np.array([[i]], "int32")))
        hashes[tuple(ids)] = value.item()
    assert hashes[0, 1] == hashes[2, 3] == hashes[4, 2, 4, 3]
    assert len({*hashes.values()}) == 3


def test_a_sequence_has_not_ended_where_its_largest_length_came_first():
    votes = np.zeros((2, T, V, V))
    votes[0, :, :, 1] = 10
    votes[1, 1, :, END] = 10
    for searcher in (Greedy(), Beam(1)):
        ids, _, ended = rows(search(searcher, votes, [T, T]))
        assert ended.tolist() == [[False], [True]]
        assert ids[0, 0].tolist() == [1] * T
        assert ids[1, 0].tolist() == [0, END, 0, 0]


def test_what_is_scored_after_the_end_does_not_count():
    votes = np.zeros((1, T, V, V))
    votes[0, 0, START, END] = 10
    for searcher in (Greedy(), Beam(1, length_penalty=0)):
        _, scores, _ = rows(search(searcher, votes, [T]))
        assert scores[0, 0] == pytest.approx(-np.log(1 + 3 * np.exp(-10)), abs=1e-6)


def test_a_long_sequence_may_still_overtake_one_that_has_ended():
    votes = np.zeros((1, T, V, V))
    votes[0, 0, START] = [-90, 0, -90, 0.1]  # Ending at once is the best first step;
    votes[0, 1:, 1, 1] = 30  # but after the second best one, all ids are certain,
    votes[0, 1, :, END] = -200  # and nothing ends in between.
    votes[0, -1, 1, END] = 400
    ids, scores, _ = rows(search(Beam(2, length_penalty=1), votes, [T]))
    assert ids.tolist() == [[[1, 1, 1, END]]]
    assert scores[0, 0] == pytest.approx(-np.log(1 + np.exp(0.1)) / (9 / 6), abs=1e-4)


def test_start_end_and_padding_ids_are_arguments():
    table = np.full((8, 8), -9.0)  # 5 -> 1 -> 2 -> 6
    for read, best in [(5, 1), (1, 2), (2, 6)]:
        table[read, best] = 9

    def step(ids, position, visible, cache):
        return StepOutput(ops.take(ops.cast(table, "float32"), ids, axis=0), cache, None)

    for searcher in (Greedy(5, 6, 7), Beam(2, start_id=5, end_id=6, padding_id=7)):
        found = searcher(FunctionStep(step), (), np.array([5], "int32"))
        assert np.array(found.ids).tolist() == [[[1, 2, 6, 7, 7]]]


def test_the_padding_id_may_be_the_end_id():
    votes = np.zeros((1, T, V, V))
    votes[..., 1] = 10
    for searcher in (Greedy(end_id=0), Beam(1, end_id=0)):
        _, _, ended = rows(search(searcher, np.repeat(votes, 2, axis=0), [2, T]))
        assert ended.tolist() == [[False], [False]]


@pytest.mark.prove
@pytest.mark.tensorflow("A test of its graphs.")
@pytest.mark.parametrize("searcher", [Greedy(), Beam(3, n_best=2)], ids=["greedy", "beam"])
def test_a_graph_of_unknown_batch_and_length_gives_the_same(searcher):
    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, V, V), "float32"),
            tf.TensorSpec((None,), "int32"),
        ]
    )
    def graph(votes, max_lengths):
        step, cache = scripted(votes, searcher.beam_size)
        return searcher(step, cache, max_lengths, ops.shape(votes)[1])

    for batch, max_lengths in [(1, [T]), (3, [2, T, 1])]:
        votes = random_votes(batch, seed=batch)
        eager = rows(search(searcher, votes, max_lengths))
        for one, other in zip(eager, graph(votes.astype("float32"), max_lengths), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(("beam_size", "n_best"), [(0, 0), (0, 1), (3, 4), (3, 0)])
def test_the_beam_must_hold_the_n_best(beam_size, n_best):
    with pytest.raises(ValueError, match=f"Received: .*(beam_size={beam_size}|n_best={n_best})"):
        Beam(beam_size, n_best=n_best)


def test_the_length_penalty_must_not_be_negative():
    with pytest.raises(ValueError, match=r"Received: length_penalty=-0\.5"):
        Beam(length_penalty=-0.5)
