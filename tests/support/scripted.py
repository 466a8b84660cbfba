"""A scripted step for searches, without a model, and searches over it written out by hand.

Every id read at a position votes for the next one; the logits are the sums of the votes. Only the
cache holds what was read, so a beam with a wrong history shows at once. Every id has attention
weights of its own over the source.
"""

import numpy as np
from keras import ops

from kformer.decoding.runtime import GRAPH
from kformer.decoding.search.search_loop import Step, StepOutput

START, END, V, T = 2, 3, 4, 4  # Ids 0 and 1 are words, and so is START, once it has been read.


def random_votes(batch, seed=0, length=T, vocab_size=V):
    """(B, T, V, V): how id i, read at position t, votes for each next id."""
    return np.random.default_rng(seed).normal(size=(batch, length, vocab_size, vocab_size))


def random_looks(batch, source_length, seed=0, length=T, vocab_size=V):
    """(B, T, V, S): the attention of id i, read at position t; the last position is padding."""
    size = (batch, length, vocab_size, source_length)
    weights = np.random.default_rng(seed).exponential(size=size)
    weights[..., -1] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


class FunctionStep(Step):
    """A step that calls `function`, and else has the defaults."""

    def __init__(self, function, compact_batch=None):
        self._function, self.compact_batch = function, compact_batch

    def __call__(self, ids, position, visible, cache):
        return self._function(ids, position, visible, cache)


def scripted(votes, beams, looks=None, compact_batch=GRAPH.compact_batch):
    """The step that counts `votes` and attends where `looks` says, and its first cache."""
    votes = ops.cast(votes, "float32")
    looks = () if looks is None else (ops.cast(looks, "float32"),)
    batch, length = ops.shape(votes)[:2]

    def step(ids, position, visible, cache):
        seen, votes, *looks = cache
        slots = ops.arange(ops.shape(seen)[1])  # (T * K,)
        read = ops.one_hot(ids, V)  # (B, K, V)
        here = (slots // beams == position)[:, None]
        seen = ops.where(here, ops.tile(read, (1, length, 1)), seen)  # (B, T * K, V)
        at_slots = ops.repeat(votes, beams, axis=1)  # (B, T * K, V, V)
        each_vote = ops.sum(at_slots * seen[..., None], axis=2)  # (B, T * K, V)
        if visible is None:
            visible = (slots // beams <= position)[None, None]
        logits = ops.matmul(ops.cast(visible, "float32"), each_vote)  # (B, K, V)
        attention = None
        for look in looks:
            now = ops.take(look, position, axis=1)  # (B, V, S)
            attention = ops.matmul(read, now)  # (B, K, S)
        return StepOutput(logits, (seen, votes, *looks), attention)

    cache = (ops.zeros((batch, length * beams, V)), votes, *looks)
    return FunctionStep(step, compact_batch), cache


def logits(votes, ids):
    """The logits after `ids` by one row's votes (T, V, V), in float64."""
    return sum(votes[t, i] for t, i in enumerate([START, *ids]))


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum())


def log_probabilities(votes, ids):
    """The log-probabilities after `ids` by one row's votes (T, V, V), in float64."""
    return log_softmax(logits(votes, ids))


def unconstrained(logits, ids):
    """The log-probabilities of logits: every id may come after `ids`."""
    return log_softmax(logits)


def greedy_by_hand(votes, max_length, constrain=unconstrained):
    ids, score = [], 0.0
    while len(ids) < max_length and END not in ids:
        after = constrain(logits(votes, ids), ids)
        ids.append(int(after.argmax()))
        score += after.max()
    return ids, score


def length_penalised(score, length, length_penalty, offset=5):
    return score / ((offset + length) / (offset + 1)) ** length_penalty


def uncovered(looks, ids):
    """Equation 14 of Wu et al., 2016, for one row's looks (T, V, S); 0 for padding."""
    if looks is None:
        return 0.0
    received = sum(looks[t, i] for t, i in enumerate([START, *ids[:-1]]))[:-1]
    return np.log(np.minimum(received, 1)).sum()


def beam_by_hand(
    votes,
    max_length,
    beam_size,
    length_penalty,
    n_best,
    coverage_penalty=0.0,
    looks=None,
    constrain=unconstrained,
    narrowing=False,
):
    """The sequences that a beam finds, as (ended, score, ids), best first."""

    def final(score, ids, length):
        covered = coverage_penalty * uncovered(looks, ids)
        return length_penalised(score, length, length_penalty) + covered

    beams, finished = [(0.0, [])], []
    for length in range(1, max_length + 1):
        candidates = [
            (score + gain, [*ids, i])
            for score, ids in beams
            for i, gain in enumerate(constrain(logits(votes, ids), ids))
            if gain > -np.inf
        ]
        candidates.sort(reverse=True)
        best = candidates[: beam_size - len(finished) if narrowing else beam_size]
        finished += [(final(score, ids, length), ids) for score, ids in best if ids[-1] == END]
        finished = sorted(finished, reverse=True)[:beam_size]
        going_on = best if narrowing else candidates
        beams = [(score, ids) for score, ids in going_on if ids[-1] != END][:beam_size]
        if not beams:
            break
        if narrowing:
            continue
        returned = [score for score, _ in finished][n_best - 1 :][:1]
        if returned >= [length_penalised(beams[0][0], max_length, length_penalty)]:
            beams = []  # No unfinished sequence can overtake.
            break
        now = length_penalised(beams[0][0], length, length_penalty)
        if len(finished) == beam_size and returned >= [now]:
            beams = []
            break
    found = [(True, score, ids) for score, ids in finished]
    found += [(False, final(score, ids, max_length), ids) for score, ids in beams]  # Cut.
    return sorted(found, key=lambda one: one[1], reverse=True)[:n_best]


def search(searcher, votes, max_lengths, looks=None, compact_batch=GRAPH.compact_batch):
    step, cache = scripted(votes, searcher.beam_size, looks, compact_batch)
    source = {} if looks is None else {"source_length": looks.shape[-1]}
    return searcher(step, cache, np.array(max_lengths, "int32"), votes.shape[1], **source)


def rows(found):
    return [np.array(part) for part in found]


def padded(ids, length):
    return [*ids, *[0] * (length - len(ids))]
