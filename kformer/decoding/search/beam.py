"""Beam search.

Axes: B batch, K beams, T the longest limit, V vocabulary, S source length, N sequences returned.
"""

from typing import Any, NamedTuple

from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.decoding.search.loop import (
    LEAST,
    Found,
    alone,
    best_continuations,
    left_of,
    loop,
    pick,
    rows_at_first,
    write,
)

_NO_SLOT = -1  # Of a position that is still to come.


class Beam:
    """Keeps the `beam_size` best unfinished sequences at every step.

    The score of a sequence is the sum of its ids' log-probabilities, the end id included, divided
    by ((5 + length) / 6)^length_penalty, plus, with a coverage penalty, that times the sum over
    the source of log(min(attention received, 1)): equation 14 of
    [Wu et al., 2016](https://arxiv.org/abs/1609.08144). A row ends when no unfinished sequence can
    still overtake its `n_best`; or sooner, when `beam_size` have ended and no unfinished one would
    be among the best if it ended now. With one beam this is `Greedy`.

    Args:
        beam_size: Number K of sequences kept, at least 1.
        length_penalty: 0 prefers short sequences, 1 nearly divides by the length.
        n_best: Number N of sequences returned, at most `beam_size`.
        coverage_penalty: 0 for none; more for sequences that look at all of their source.
        start_id, end_id, padding_id, constraints: As for `Greedy`.
    """

    def __init__(
        self,
        beam_size: int = 4,
        length_penalty: float = 0.6,
        n_best: int = 1,
        coverage_penalty: float = 0.0,
        start_id: int = 2,
        end_id: int = 3,
        padding_id: int = 0,
        constraints=(),
    ):
        check_integer("beam_size", beam_size, least=1)
        check_integer("n_best", n_best, least=1)
        if n_best > beam_size:
            raise ValueError(
                "`beam_size` must be at least `n_best`. "
                f"Received: beam_size={beam_size}, n_best={n_best}."
            )
        self.beam_size = beam_size
        self.length_penalty = check_number("length_penalty", length_penalty, least=0)
        self.n_best = n_best
        self.coverage_penalty = check_number("coverage_penalty", coverage_penalty, least=0)
        self.start_id = start_id
        self.end_id = end_id
        self.padding_id = padding_id
        self.constraints = tuple(constraints)

    def __call__(self, step, cache, limits, max_length=None, source_length=None):
        """Searches; arguments as for `Greedy`. Returns `Found` with N = `n_best`.

        Args:
            source_length: S, which a coverage penalty needs.
        """
        batch, beams = ops.shape(limits)[0], self.beam_size
        max_length = ops.max(limits) if max_length is None else max_length
        # All beams start alike: only the first may win, or all would stay alike.
        first = ops.cast(ops.arange(beams) > 0, "float32") * LEAST  # (K,)
        no_ids = ops.full((batch, beams, max_length), self.padding_id, "int32")
        state = _BeamState(
            position=ops.convert_to_tensor(0, "int32"),
            last=ops.full((batch, beams), self.start_id, "int32"),
            ids=no_ids,
            slots=ops.full((batch, beams, max_length), _NO_SLOT, "int32"),
            score=ops.zeros((batch, 1), "float32") + first,
            finished_ids=no_ids,
            finished_score=ops.full((batch, beams), LEAST, "float32"),
            ended=ops.zeros((batch,), "bool"),
            coverage=ops.zeros((batch, beams, source_length)) if self.coverage_penalty else (),
            rows=rows_at_first(step, batch),
            cache=cache,
        )
        state = loop(state, lambda step, state: self._advance(step, state, limits), limits, step)
        return self._best(state, limits)

    def _advance(self, step, state, limits):
        position, beams = state.position, self.beam_size
        limits = left_of(limits, state.rows)
        own = ops.arange(beams, dtype="int32")  # (K,)
        all_own = ops.broadcast_to(own, ops.shape(state.last))
        slots = write(step, state.slots, all_own, position)  # (B, K, T)
        visible = ops.equal(ops.expand_dims(slots, -1), own)  # (B, K, T, K)
        visible = ops.reshape(visible, (-1, beams, beams * ops.shape(slots)[-1]))
        logits, cache, attention = step(state.last, position, visible, state.cache)
        coverage = ()
        if self.coverage_penalty:
            coverage = state.coverage + ops.cast(attention, "float32")  # (B, K, S)

        score, beam, last = self._candidates(step, logits, state)  # (B, C) each, C about 2 K
        ids = write(step, pick(state.ids, beam), last, position)  # (B, C, T)
        ends = last == self.end_id
        penalised = score / self._penalty(position + 1) + self._uncovered(coverage, beam)
        finished_ids, finished_score = self._finish(state, ids, score, penalised, ends)
        alive, order = ops.top_k(ops.where(ends, LEAST, score), beams)  # (B, K)
        descent = pick(beam, order)  # (B, K), the beams that those alive continue
        settled = self._settled(finished_score, alive, position + 1, limits)
        new = _BeamState(
            position=position + 1,
            last=pick(last, order),
            ids=pick(ids, order),
            slots=pick(slots, descent),
            score=alive,
            finished_ids=finished_ids,
            finished_score=finished_score,
            ended=state.ended | settled,
            coverage=pick(coverage, descent) if self.coverage_penalty else (),
            rows=state.rows,
            cache=cache,
        )
        return self._keep_ended(state, new, limits)

    def _candidates(self, step, logits, state):
        """The best continuations of a row: their scores, the beams they continue, and their ids.

        Of 2 K candidates, at least K go on: each beam has one end id. And the best 2 K of all are
        among the best 2 K of each beam.
        """
        beams = self.beam_size
        count = min(2 * beams, logits.shape[-1])
        gains, ids = best_continuations(
            step, logits, count, self.constraints, state
        )  # (B, K, count)
        totals = ops.reshape(gains + ops.expand_dims(state.score, -1), (-1, beams * count))
        score, choice = ops.top_k(totals, min(2 * beams, beams * count))
        choice = ops.cast(choice, "int32")
        return score, choice // count, pick(ops.reshape(ids, (-1, beams * count)), choice)

    def _finish(self, state, ids, score, penalised, ends):
        """The best K finished sequences, with those of the candidates that end now."""
        beams = self.beam_size
        # Only what is among the best K may end, so that one beam is greedy search.
        finishes = ends[:, :beams] & (score[:, :beams] > LEAST / 2)
        penalised = ops.where(finishes, penalised[:, :beams], LEAST)
        scores, order = ops.top_k(ops.concatenate([state.finished_score, penalised], axis=1), beams)
        return pick(ops.concatenate([state.finished_ids, ids[:, :beams]], axis=1), order), scores

    def _settled(self, finished, alive, length, limits):
        """Whether each row's answer is found; scores (B, K) of finished and unfinished ones."""
        worst = _column(finished, self.n_best - 1)  # Of those that would be returned.
        best = _column(alive, 0)
        # Log-probabilities only fall, coverage costs, and the penalty of the limit is the mildest.
        beyond_hope = worst >= best / self._penalty(limits)
        enough = _column(finished, self.beam_size - 1) > LEAST / 2
        return beyond_hope | (enough & (worst >= best / self._penalty(length)))

    def _penalty(self, length):
        return ops.power((5.0 + ops.cast(length, "float32")) / 6.0, self.length_penalty)

    def _uncovered(self, coverage, beam):
        """What each beam of `beam` (B, C) loses for attention not paid; (B, C), or 0."""
        if not self.coverage_penalty:
            return 0.0
        received = ops.minimum(pick(coverage, beam), 1.0)  # (B, C, S)
        paid = ops.where(received > 0, ops.log(received), 0.0)  # Padding gets exactly 0.
        return self.coverage_penalty * ops.sum(paid, axis=-1)

    def _keep_ended(self, old, new, limits):
        """Freezes the rows that had ended: their neighbours must not change their answer."""
        if alone(old):
            return new
        ended = old.ended | (old.position >= limits)  # (B,)

        def keep(name):
            before, after = getattr(old, name), getattr(new, name)
            axes = (1,) * (len(before.shape) - 1)
            return ops.where(ops.reshape(ended, (-1, *axes)), before, after)

        frozen = ["ids", "score", "finished_ids", "finished_score", "ended"]
        if self.coverage_penalty:
            frozen.append("coverage")
        return new._replace(**{name: keep(name) for name in frozen})

    def _best(self, state, limits):
        """The finished sequences first; unfinished ones fill up where a row has too few."""
        count = ops.sum(ops.cast(state.finished_score > LEAST / 2, "int32"), axis=1)[:, None]
        rank = ops.arange(self.n_best, dtype="int32")[None]  # (1, N)
        ended = rank < count  # (B, N)
        order = ops.where(ended, rank, self.beam_size + rank - count)
        unfinished = state.score / self._penalty(limits)[:, None]
        unfinished = ops.where(state.score > LEAST / 2, unfinished, LEAST)
        unfinished_ids = state.ids
        if self.coverage_penalty:
            own = ops.arange(self.beam_size, dtype="int32") + ops.zeros_like(state.last)
            unfinished = unfinished + self._uncovered(state.coverage, own)
            unfinished, best_first = ops.top_k(unfinished, self.beam_size)
            unfinished_ids = pick(state.ids, best_first)
        scores = ops.concatenate([state.finished_score, unfinished], axis=1)
        ids = ops.concatenate([state.finished_ids, unfinished_ids], axis=1)
        return Found(pick(ids, order), pick(scores, order), ended)


class _BeamState(NamedTuple):
    position: Any  # int32 ()
    last: Any  # int32 (B, K), the ids that the next step reads
    ids: Any  # int32 (B, K, T), unfinished
    slots: Any  # int32 (B, K, T): which of a position's slots holds the past of this beam
    score: Any  # float32 (B, K), sums of log-probabilities, best first
    finished_ids: Any  # int32 (B, K, T)
    finished_score: Any  # float32 (B, K), penalised, best first
    ended: Any  # bool (B,)
    coverage: Any  # float32 (B, K, S), attention received so far; () without a penalty
    rows: Any  # int32 (B,), or (); see `kformer.decoding.search.loop.rows_at_first`
    cache: Any


def _column(scores, place):
    """`scores` (B, K) at `place`: (B,)."""
    return ops.reshape(ops.slice(scores, (0, place), (ops.shape(scores)[0], 1)), (-1,))
