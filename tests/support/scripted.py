"""A scripted step for search, no model, and searches over it written out by hand.

Every id read at a position votes for what comes next; the logits are the sum of the votes. Only the
cache remembers what was read, so a history that lost its beam shows at once. And every id looks at
the source in its own way.
"""

import numpy as np
from keras import ops

from kformer.decoding.search import Step
from kformer.decoding.search.compaction import leave_at_half

START, END, V, T = 2, 3, 4, 4  # Ids 0 and 1 are words, and so is START, once it has been read.


def random_votes(batch, seed=0, length=T, vocab_size=V):
    """(B, T, V, V): how id i, read at position t, votes for each id to come."""
    return np.random.default_rng(seed).normal(size=(batch, length, vocab_size, vocab_size))


def random_looks(batch, source_length, seed=0, length=T, vocab_size=V):
    """(B, T, V, S): where id i, read at position t, looks; the last position is padding."""
    size = (batch, length, vocab_size, source_length)
    weights = np.random.default_rng(seed).exponential(size=size)
    weights[..., -1] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


def scripted(votes, beams, looks=None, leave=leave_at_half):
    """The step that counts `votes` and looks where `looks` says, and its first cache."""
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
        said = ops.sum(at_slots * seen[..., None], axis=2)  # (B, T * K, V)
        if visible is None:
            visible = (slots // beams <= position)[None, None]
        logits = ops.matmul(ops.cast(visible, "float32"), said)  # (B, K, V)
        attention = None
        for look in looks:
            now = ops.take(look, position, axis=1)  # (B, V, S)
            attention = ops.matmul(read, now)  # (B, K, S)
        return Step(logits, (seen, votes, *looks), attention)

    step.leave = leave
    step.keep_rows = lambda cache, kept: tuple(ops.take(part, kept, axis=0) for part in cache)
    return step, (ops.zeros((batch, length * beams, V)), votes, *looks)


def log_probabilities(votes, ids):
    """What one row's votes (T, V, V) say comes after `ids`, in float64."""
    logits = sum(votes[t, i] for t, i in enumerate([START, *ids]))
    return logits - np.log(np.exp(logits).sum())


def unrestrained(log_probabilities, ids):
    """What may come after `ids`: everything."""
    return log_probabilities


def greedy_by_hand(votes, limit, restrain=unrestrained):
    ids, score = [], 0.0
    while len(ids) < limit and END not in ids:
        after = restrain(log_probabilities(votes, ids), ids)
        ids.append(int(after.argmax()))
        score += after.max()
    return ids, score


def length_penalised(score, length, length_penalty):
    return score / ((5 + length) / 6) ** length_penalty


def uncovered(looks, ids):
    """Equation 14 of Wu et al., 2016, for one row's looks (T, V, S); 0 for padding."""
    if looks is None:
        return 0.0
    received = sum(looks[t, i] for t, i in enumerate([START, *ids[:-1]]))[:-1]
    return np.log(np.minimum(received, 1)).sum()


def beam_by_hand(
    votes,
    limit,
    beam_size,
    length_penalty,
    n_best,
    coverage_penalty=0.0,
    looks=None,
    restrain=unrestrained,
):
    """The sequences that a beam finds, as (ended, score, ids), best first."""

    def final(score, ids, length):
        covered = coverage_penalty * uncovered(looks, ids)
        return length_penalised(score, length, length_penalty) + covered

    beams, finished = [(0.0, [])], []
    for length in range(1, limit + 1):
        candidates = [
            (score + gain, [*ids, i])
            for score, ids in beams
            for i, gain in enumerate(restrain(log_probabilities(votes, ids), ids))
            if gain > -np.inf
        ]
        candidates.sort(reverse=True)
        best = candidates[:beam_size]
        finished += [(final(score, ids, length), ids) for score, ids in best if ids[-1] == END]
        finished = sorted(finished, reverse=True)[:beam_size]
        beams = [(score, ids) for score, ids in candidates if ids[-1] != END][:beam_size]
        if not beams:
            break
        returned = [score for score, _ in finished][n_best - 1 :][:1]
        if returned >= [length_penalised(beams[0][0], limit, length_penalty)]:
            break  # Beyond hope.
        now = length_penalised(beams[0][0], length, length_penalty)
        if len(finished) == beam_size and returned >= [now]:
            break
    found = [(True, score, ids) for score, ids in finished]
    unfinished = [(final(score, ids, limit), ids) for score, ids in beams]
    found += [(False, score, ids) for score, ids in sorted(unfinished, reverse=True)]
    return found[:n_best]


def search(searcher, votes, limits, looks=None, leave=leave_at_half):
    step, cache = scripted(votes, searcher.beam_size, looks, leave)
    source = {} if looks is None else {"source_length": looks.shape[-1]}
    return searcher(step, cache, np.array(limits, "int32"), votes.shape[1], **source)


def rows(found):
    return [np.array(part) for part in found]


def padded(ids, length):
    return [*ids, *[0] * (length - len(ids))]
