"""Prompts: read in one pass, then continued by every search, as the whole network would."""

import functools
import itertools

import numpy as np
import pytest

from kformer import Beam, Greedy, Sample, TransformerDecoder
from kformer.decoding.decoder_step import start_decoding
from kformer.decoding.runtime import GRAPH, LITERT, XLA
from kformer.decoding.search_ids import search_ids
from support.reference import perturbed

V, T, START, END = 7, 4, 2, 3
PROMPTS = [[START], [START, 5, 6, 4, 1, 5], [START, 4, 4], [START, 6, 1, 5, 4]]
RUNTIMES = {
    "graph": GRAPH,
    "xla": XLA,
    "litert": LITERT,
    "blocks of two": LITERT._replace(block=2),
}
every_runtime = pytest.mark.parametrize("runtime", RUNTIMES.values(), ids=RUNTIMES.keys())


@functools.cache
def network_of(norm_first):
    # No id begins another text in the middle of a row: a network of random weights may choose any.
    return perturbed(TransformerDecoder(V, 2, 6, 3, 5, norm_first=norm_first, start_id=-1))


@pytest.fixture
def network():
    return network_of(False)


def padded(rows):
    return np.array([[*row, *[0] * (6 - len(row))] for row in rows], "int32")


def found_by(network, search, rows, runtime=GRAPH, max_length=T):
    lengths = np.full(len(rows), max_length, "int32")
    ids, scores, ended = search_ids(network, padded(rows), search, runtime, T, lengths)
    return np.array(ids), np.array(scores), np.array(ended)


def log_probabilities(network, row):
    logits = np.asarray(network(np.array([row])), "float64")[0, -1]
    return logits - np.log(np.exp(logits).sum())


def until_end(ids):
    ids = list(ids)
    return ids[: ids.index(END) + 1] if END in ids else ids


@pytest.mark.pairs
@pytest.mark.sample(8)
@every_runtime
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("beams", [1, 3])
def test_each_step_gives_the_logits_of_the_whole_row(runtime, norm_first, beams):
    network = network_of(norm_first)
    step, cache = start_decoding(network, padded(PROMPTS), T, beams, runtime)
    ids = np.random.randint(1, V, (len(PROMPTS), T))
    read = np.array(step.first_ids(START, len(PROMPTS), beams))
    assert (read == [[row[-1]] * beams for row in PROMPTS]).all()
    visible = np.zeros((1, beams, T * beams), bool)
    for position in range(T):
        visible[0, np.arange(beams), position * beams + np.arange(beams)] = True
        mask = None if beams == 1 else visible
        logits, cache, attention, _ = step(read, position, mask, cache)
        assert attention is None
        for row, of_row, following in zip(PROMPTS, np.array(logits), ids, strict=True):
            whole = network(np.array([[*row, *following[:position]]]))[0, -1]
            for of_beam in of_row:
                np.testing.assert_allclose(of_beam, whole, rtol=1e-4, atol=1e-4)
        if step.block and position % step.block == step.block - 1:
            cache = step.flush(cache, position + 1 - step.block)
        read = np.repeat(ids[:, position, None], beams, axis=1).astype("int32")


@pytest.mark.prove
@every_runtime
def test_greedy_search_continues_as_the_network_read_again_for_every_id(network, runtime):
    ids, scores, ended = found_by(network, Greedy(), PROMPTS, runtime)
    for row, found, [score], [whole] in zip(PROMPTS, ids[:, 0], scores, ended, strict=True):
        expected, total = [], 0.0
        while len(expected) < T and END not in expected:
            gains = log_probabilities(network, [*row, *expected])
            expected.append(int(gains.argmax()))
            total += gains.max()
        assert until_end(found) == expected and whole == (END in expected)
        np.testing.assert_allclose(score, total, atol=1e-3)


@pytest.mark.prove
def test_a_wide_beam_finds_the_best_of_all_continuations(network):
    beam = Beam(beam_size=V**2, length_penalty=0.0)
    ids, scores, _ = found_by(network, beam, PROMPTS, max_length=3)
    for row, [found], [score] in zip(PROMPTS, ids, scores, strict=True):
        following = {
            ids: log_probabilities(network, [*row, *ids])
            for length in range(3)
            for ids in itertools.product(range(V), repeat=length)
        }
        # Those that are cut at the largest length count, too.
        lines = {tuple(until_end(ids)) for ids in itertools.product(range(V), repeat=3)}
        totals = {
            line: sum(following[line[:i]][word] for i, word in enumerate(line)) for line in lines
        }
        best = max(totals, key=totals.get)
        assert tuple(until_end(found[:3])) == best
        np.testing.assert_allclose(score, totals[best], atol=1e-3)


@pytest.mark.prove
@pytest.mark.parametrize("search", [Greedy(), Beam(3)], ids=["greedy", "beam"])
def test_a_continuation_does_not_depend_on_the_batch(network, search):
    together, scores, _ = found_by(network, search, PROMPTS)
    for order in ([3, 1, 0, 2], [1], [0, 0, 2]):
        ids, of_order, _ = found_by(network, search, [PROMPTS[i] for i in order])
        np.testing.assert_array_equal(ids, together[order])
        np.testing.assert_allclose(of_order, scores[order], atol=1e-4)


def test_samples_are_drawn_as_often_as_they_are_probable(network):
    draws = 4000
    keys = np.random.default_rng(0).integers(2**32, size=(draws, T), dtype=np.uint32)
    search = Sample(keys, temperature=0.7)
    ids, _, _ = found_by(network, search, [PROMPTS[2]] * draws, max_length=1)
    shares = np.bincount(ids[:, 0, 0], minlength=V) / draws
    expected = np.exp(log_probabilities(network, PROMPTS[2]) / 0.7)
    np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.03)
