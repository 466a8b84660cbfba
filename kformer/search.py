"""Search: from a `step` that scores what comes next to the ids of a whole sequence.

Search knows no model. It calls `step(ids, position, cache) -> Step` for all rows at once; the
state has fixed shapes, so that one `while_loop` runs it in Python, on a server and on a phone.
A row is never influenced by the others: each ends by itself, at its end id or its own limit.

Axes: B batch, K beam, T the longest limit, V vocabulary.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

LEAST = -1e9  # The score of what must not be chosen; finite, so that sums of it stay finite.


class Cache(NamedTuple):
    """What a step needs from the steps before; the first axis of every tensor is the batch."""

    history: Any  # Changes with every step, and follows the beams.
    memory: Any  # Never changes; the same for all beams of a row.


class Step(NamedTuple):
    """What a step returns."""

    logits: Any  # float (B, V)
    cache: Cache
    attention: Any  # float (B, S): which source positions the step looked at.


class Found(NamedTuple):
    """What a search returns: N sequences a row, best first."""

    ids: Any  # int32 (B, N, T), without the start id; padding after the end id.
    scores: Any  # float32 (B, N)
    ended: Any  # bool (B, N): False where the limit came before the end id.


class Greedy:
    """Takes the best id at every step.

    The score of a sequence is the sum of its ids' log-probabilities, the end id included.

    Args:
        start_id: What the first step reads.
        end_id: What ends a sequence.
        padding_id: What fills a row after its end.
    """

    def __init__(self, start_id: int = 2, end_id: int = 3, padding_id: int = 0):
        self.start_id = start_id
        self.end_id = end_id
        self.padding_id = padding_id

    def __call__(self, step, cache, limits, max_length=None):
        """Searches.

        Args:
            step: callable (ids (B,) int32, position () int32, `Cache`) -> `Step`.
            cache: the `Cache` of the first step.
            limits: int32 tensor (B,), the most ids that each row may get.
            max_length: T, at least every limit; needed where shapes must be static.

        Returns:
            `Found` with N = 1.
        """
        batch = ops.shape(limits)[0]
        max_length = ops.max(limits) if max_length is None else max_length
        state = _GreedyState(
            position=ops.convert_to_tensor(0, "int32"),
            last=ops.full((batch,), self.start_id, "int32"),
            ids=ops.full((batch, max_length), self.padding_id, "int32"),
            score=ops.zeros((batch,), "float32"),
            ended=ops.zeros((batch,), "bool"),
            cache=cache,
        )
        state = _loop(state, lambda state: self._advance(step, state, limits), limits)
        return Found(state.ids[:, None], state.score[:, None], state.ended[:, None])

    def _advance(self, step, state, limits):
        logits, cache, _ = step(state.last, state.position, state.cache)
        log_probabilities = ops.log_softmax(ops.cast(logits, "float32"))  # (B, V)
        gain, best = ops.top_k(log_probabilities, 1)  # LiteRT lacks an op of `ops.argmax`.
        gain, best = gain[:, 0], ops.cast(best[:, 0], "int32")  # (B,)
        running = ops.logical_not(state.ended) & (state.position < limits)
        best = ops.where(running, best, self.padding_id)
        return _GreedyState(
            position=state.position + 1,
            last=best,
            ids=_write(state.ids, best, state.position),
            score=state.score + ops.where(running, gain, 0.0),
            ended=state.ended | (running & (best == self.end_id)),
            cache=cache,
        )


class _GreedyState(NamedTuple):
    position: Any  # int32 ()
    last: Any  # int32 (B,), the ids that the next step reads
    ids: Any  # int32 (B, T)
    score: Any  # float32 (B,)
    ended: Any  # bool (B,)
    cache: Any


class Beam:
    """Keeps the `beam_size` best unfinished sequences at every step.

    The score of a sequence is the sum of its ids' log-probabilities, the end id included, divided
    by ((5 + length) / 6)^length_penalty: equation 14 of
    [Wu et al., 2016](https://arxiv.org/abs/1609.08144). A row ends when `beam_size` sequences have
    ended, or sooner, when no unfinished one can still overtake its `n_best`. With one beam this is
    `Greedy`.

    Args:
        beam_size: Number K of sequences kept, at least 1.
        length_penalty: 0 prefers short sequences, 1 nearly divides by the length.
        n_best: Number N of sequences returned, at most `beam_size`.
        start_id, end_id, padding_id: As for `Greedy`.
    """

    def __init__(
        self,
        beam_size: int = 4,
        length_penalty: float = 0.6,
        n_best: int = 1,
        start_id: int = 2,
        end_id: int = 3,
        padding_id: int = 0,
    ):
        if not 1 <= n_best <= beam_size:
            raise ValueError(
                "`beam_size` must be at least `n_best`, and `n_best` at least 1. "
                f"Received: beam_size={beam_size}, n_best={n_best}."
            )
        if length_penalty < 0:
            raise ValueError(
                f"`length_penalty` must not be negative. Received: length_penalty={length_penalty}."
            )
        self.beam_size = beam_size
        self.length_penalty = length_penalty
        self.n_best = n_best
        self.start_id = start_id
        self.end_id = end_id
        self.padding_id = padding_id

    def __call__(self, step, cache, limits, max_length=None):
        """Searches; arguments as for `Greedy`. Returns `Found` with N = `n_best`."""
        batch, beams = ops.shape(limits)[0], self.beam_size
        max_length = ops.max(limits) if max_length is None else max_length
        # All beams start alike: only the first may win, or all would stay alike.
        first = ops.cast(ops.arange(beams) > 0, "float32") * LEAST  # (K,)
        no_ids = ops.full((batch, beams, max_length), self.padding_id, "int32")
        state = _BeamState(
            position=ops.convert_to_tensor(0, "int32"),
            last=ops.full((batch, beams), self.start_id, "int32"),
            ids=no_ids,
            score=ops.zeros((batch, 1), "float32") + first,
            finished_ids=no_ids,
            finished_score=ops.full((batch, beams), LEAST, "float32"),
            ended=ops.zeros((batch,), "bool"),
            cache=keras.tree.map_structure(lambda x: ops.repeat(x, beams, axis=0), cache),
        )
        state = _loop(state, lambda state: self._advance(step, state, limits), limits)
        return self._best(state, limits)

    def _advance(self, step, state, limits):
        position, beams = state.position, self.beam_size
        logits, cache, _ = step(ops.reshape(state.last, (-1,)), position, state.cache)
        log_probabilities = ops.log_softmax(ops.cast(logits, "float32"))  # (B * K, V)
        vocab_size = logits.shape[-1]
        totals = ops.reshape(log_probabilities, (-1, beams, vocab_size)) + state.score[..., None]
        # Of 2 K candidates, at least K go on: each beam has one end id.
        score, choice = ops.top_k(
            ops.reshape(totals, (-1, beams * vocab_size)), min(2 * beams, beams * vocab_size)
        )
        choice = ops.cast(choice, "int32")
        beam, last = choice // vocab_size, choice % vocab_size  # (B, 2K)
        ids = _write(_pick(state.ids, beam), last, position)  # (B, 2K, T)
        ends = last == self.end_id

        # Only what is among the best K may end, so that one beam is greedy search.
        finishes = ends[:, :beams] & (score[:, :beams] > LEAST / 2)
        finished = ops.where(finishes, score[:, :beams] / self._penalty(position + 1), LEAST)
        finished_score, order = ops.top_k(
            ops.concatenate([state.finished_score, finished], axis=1), beams
        )
        finished_ids = _pick(ops.concatenate([state.finished_ids, ids[:, :beams]], axis=1), order)
        alive, order = ops.top_k(ops.where(ends, LEAST, score), beams)  # (B, K)
        # Log-probabilities only fall, and the penalty of the limit is the mildest.
        hope = alive[:, 0] / self._penalty(limits)
        settled = (finished_score[:, self.n_best - 1] >= hope) | (finished_score[:, -1] > LEAST / 2)
        new = _BeamState(
            position=position + 1,
            last=_pick(last, order),
            ids=_pick(ids, order),
            score=alive,
            finished_ids=finished_ids,
            finished_score=finished_score,
            ended=state.ended | settled,
            cache=self._follow(cache, _pick(beam, order)),
        )
        return self._keep_ended(state, new, limits)

    def _penalty(self, length):
        return ops.power((5.0 + ops.cast(length, "float32")) / 6.0, self.length_penalty)

    def _follow(self, cache, beam):
        """Moves the history of each row's beams to where their continuations went."""
        batch = ops.shape(beam)[0]
        rows = ops.arange(batch, dtype="int32")[:, None] * self.beam_size + beam  # (B, K)
        rows = ops.reshape(rows, (-1,))
        history = keras.tree.map_structure(lambda x: ops.take(x, rows, axis=0), cache.history)
        return Cache(history, cache.memory)

    def _keep_ended(self, old, new, limits):
        """Freezes the rows that had ended: their neighbours must not change their answer."""
        ended = old.ended | (old.position >= limits)  # (B,)

        def keep(name):
            before, after = getattr(old, name), getattr(new, name)
            axes = (1,) * (len(before.shape) - 1)
            return ops.where(ops.reshape(ended, (-1, *axes)), before, after)

        frozen = ("ids", "score", "finished_ids", "finished_score", "ended")
        return new._replace(**{name: keep(name) for name in frozen})

    def _best(self, state, limits):
        """The finished sequences first; unfinished ones fill up where a row has too few."""
        count = ops.sum(ops.cast(state.finished_score > LEAST / 2, "int32"), axis=1)[:, None]
        rank = ops.arange(self.n_best, dtype="int32")[None]  # (1, N)
        ended = rank < count  # (B, N)
        order = ops.where(ended, rank, self.beam_size + rank - count)
        unfinished = state.score / self._penalty(limits)[:, None]
        scores = ops.concatenate([state.finished_score, unfinished], axis=1)
        ids = ops.concatenate([state.finished_ids, state.ids], axis=1)
        return Found(_pick(ids, order), _pick(scores, order), ended)


class _BeamState(NamedTuple):
    position: Any  # int32 ()
    last: Any  # int32 (B, K), the ids that the next step reads
    ids: Any  # int32 (B, K, T), unfinished
    score: Any  # float32 (B, K), sums of log-probabilities, best first
    finished_ids: Any  # int32 (B, K, T)
    finished_score: Any  # float32 (B, K), penalised, best first
    ended: Any  # bool (B,)
    cache: Any


def _loop(state, advance, limits):
    """Advances until every row has ended or reached its limit."""
    kind = type(state)

    def goes_on(*values):
        now = kind(*values)
        return ops.any(ops.logical_not(now.ended) & (now.position < limits))

    return kind(*ops.while_loop(goes_on, lambda *values: tuple(advance(kind(*values))), state))


def _write(ids, new, position):
    """Writes `new` (...,) at `position` of `ids` (..., T)."""
    here = ops.arange(ops.shape(ids)[-1]) == position  # (T,)
    return ops.where(here, new[..., None], ids)


def _pick(values, order):
    """Picks entries `order` (B, N) from axis 1 of `values` (B, M) or (B, M, T)."""
    if len(values.shape) == 3:
        order = order[..., None]
    return ops.take_along_axis(values, order, axis=1)
