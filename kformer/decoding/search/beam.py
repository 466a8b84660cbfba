"""Beam search.

Axes: B batch, K beams, T largest length, V vocabulary, S source length, N sequences of a row, C
candidates of a row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from keras import ops

from kformer.arguments import check_flag, check_integer, check_number
from kformer.decoding.search.compaction import initial_rows, remaining, where_rows
from kformer.decoding.search.constraints import Constraint, Spelling, without_repeats
from kformer.decoding.search.continuations import NEG_INF, best_continuations, pick
from kformer.decoding.search.search_loop import SearchOutput, Step, is_single_row, loop

_NO_SLOT = -1  # At positions that are still to come.


class Beam:
    """Keeps the `beam_size` best unfinished sequences at every step.

    The score of a sequence is the sum of its ids' log-probabilities, the end id included, divided
    by ((offset + length) / (offset + 1))^length_penalty, plus the coverage penalty times the sum
    over the source of log(min(attention received, 1)): equation 14 of
    [Wu et al., 2016](https://arxiv.org/abs/1609.08144), where the offset is 5. A row ends when no
    unfinished sequence can still overtake its `n_best`; or sooner, when `beam_size` sequences have
    ended and no unfinished one would be among the best if it ended now. At the largest length of a
    row, its unfinished sequences are cut and ranked by their scores with the others. With one beam
    this is `Greedy`.

    Args:
        beam_size: Number K of sequences kept, at least 1.
        length_penalty: 0 prefers short sequences, 1 nearly divides by the length.
        n_best: Number N of sequences returned, at most `beam_size`.
        coverage_penalty: 0 for none; more prefers sequences that attend to all of their source.
        length_offset: The offset; 0 divides by length^length_penalty, as Marian does.
        narrowing: Whether each sequence that ends leaves one beam less for the others, so that a
            row ends with its last beam, as in Marian.
        spelling: `constraints.Spelling` of the ids: of several sequences with the same text only
            the best is returned. None to return all sequences.
        start_id, end_id, padding_id, constraints: As for `Greedy`.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> from kformer.decoding.decoder_step import start_decoding
        >>> model = kformer.Transformer(10, num_layers=1, d_model=16, num_heads=2, d_ff=32)
        >>> step, cache = start_decoding(model, np.array([[5, 6, 3]]), max_length=7, beams=4)
        >>> beam = kformer.Beam(beam_size=4, n_best=2)
        >>> output = beam(step, cache, max_lengths=np.array([7], "int32"))
        >>> print(output.ids.shape)  # Rows, sequences of each, and ids.
        (1, 2, 7)
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
        constraints: Sequence[Constraint] = (),
        length_offset: float = 5.0,
        narrowing: bool = False,
        spelling: Spelling | None = None,
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
        self.length_offset = check_number("length_offset", length_offset, least=0)
        self.narrowing = check_flag("narrowing", narrowing)
        self.spelling = spelling if n_best > 1 else None
        self.start_id = start_id
        self.end_id = end_id
        self.padding_id = padding_id
        self.constraints = tuple(constraints)

    def __call__(
        self,
        step: Step,
        cache: Any,
        max_lengths: Any,
        max_length: Any = None,
        source_length: Any = None,
    ) -> SearchOutput:
        """Searches."""
        batch, beams = ops.shape(max_lengths)[0], self.beam_size
        max_length = ops.max(max_lengths) if max_length is None else max_length
        # All beams start equal: unless only the first may win, all stay equal.
        first = ops.cast(ops.arange(beams) > 0, "float32") * NEG_INF  # (K,)
        no_ids = ops.full((batch, beams, max_length), self.padding_id, "int32")
        no_text = ops.zeros((batch, beams), "int32") if self.spelling else ()
        state = _BeamState(
            position=ops.convert_to_tensor(0, "int32"),
            last=step.first_ids(self.start_id, batch, beams),
            ids=no_ids,
            slots=ops.full((batch, beams, max_length), _NO_SLOT, "int32")
            if step.uses_visible
            else (),
            score=ops.zeros((batch, 1), "float32") + first,
            finished_ids=no_ids,
            finished_score=ops.full((batch, beams), NEG_INF, "float32"),
            spelled=no_text,
            finished_spelled=no_text,
            ended=ops.zeros((batch,), "bool"),
            coverage=ops.zeros((batch, beams, source_length)) if self.coverage_penalty else (),
            rows=initial_rows(step, batch),
            cache=cache,
        )
        state = loop(
            state, lambda step, state: self._advance(step, state, max_lengths), max_lengths, step
        )
        return self._output(state, max_lengths)

    def _advance(self, step, state, max_lengths):
        position, beams = state.position, self.beam_size
        max_lengths = remaining(max_lengths, state.rows)
        slots, visible = self._visible(step, state) if step.uses_visible else ((), None)
        output = step(state.last, position, visible, state.cache)
        coverage = ()
        if self.coverage_penalty:
            coverage = state.coverage + ops.cast(output.attention, "float32")  # (B, K, S)

        score, beam, last = self._candidates(step, output, state)  # (B, C) each, C about 2 K
        if self.narrowing:
            score = self._narrowed(score, state)
        ids = step.write(pick(state.ids, beam), last, position)  # (B, C, T)
        ends = last == self.end_id
        penalised = score / self._penalty(position + 1) + self._coverage_score(coverage, beam)
        spelled = ()
        if self.spelling:
            spelled = self.spelling.extended(pick(state.spelled, beam), last)  # (B, C)
        finished = self._merge_finished(state, ids, score, penalised, ends, spelled)
        alive, order = ops.top_k(ops.where(ends, NEG_INF, score), beams)  # (B, K)
        parents = pick(beam, order)  # (B, K), the beam that each one alive continues
        done = self._is_done(finished["finished_score"], alive, position + 1, max_lengths)
        new = _BeamState(
            position=position + 1,
            last=pick(last, order),
            ids=pick(ids, order),
            slots=pick(slots, parents) if step.uses_visible else (),
            score=alive,
            **finished,
            spelled=pick(spelled, order) if self.spelling else (),
            ended=state.ended | done,
            coverage=pick(coverage, parents) if self.coverage_penalty else (),
            rows=state.rows,
            cache=step.reorder(output.cache, parents),
        )
        return self._freeze_ended(state, new, max_lengths)

    def _visible(self, step, state):
        """Returns the slots of each beam, (B, K, T), and of them a mask, (B, K, T * K)."""
        beams = self.beam_size
        own = ops.arange(beams, dtype="int32")  # (K,)
        all_own = ops.broadcast_to(own, ops.shape(state.last))
        slots = step.write(state.slots, all_own, state.position)
        visible = ops.equal(ops.expand_dims(slots, -1), own)  # (B, K, T, K)
        return slots, ops.reshape(visible, (-1, beams, beams * ops.shape(slots)[-1]))

    def _candidates(self, step, output, state):
        """Returns the best continuations of a row: their scores, parent beams and ids, (B, C) each.

        2 K candidates are enough: at least K of them do not end, as each beam has one end id. The
        best 2 K of a row are among the best 2 K of each beam.
        """
        beams = self.beam_size
        count = min(2 * beams, output.logits.shape[-1])
        gains, ids = best_continuations(
            step, output, count, self.constraints, state
        )  # (B, K, count)
        totals = ops.reshape(gains + ops.expand_dims(state.score, -1), (-1, beams * count))
        score, choice = ops.top_k(totals, min(2 * beams, beams * count))
        choice = ops.cast(choice, "int32")
        return score, choice // count, pick(ops.reshape(ids, (-1, beams * count)), choice)

    def _narrowed(self, score, state):
        """Leaves as many of the candidates, (B, C), as there are sequences that have not ended."""
        ended = ops.sum(ops.cast(state.finished_score > NEG_INF / 2, "int32"), axis=1)
        rank = ops.arange(ops.shape(score)[1], dtype="int32")
        return ops.where(rank < self.beam_size - ops.expand_dims(ended, -1), score, NEG_INF)

    def _merge_finished(self, state, ids, score, penalised, ends, spelled):
        """Returns the fields of the best K finished sequences, including sequences that end now."""
        beams = self.beam_size
        # Only the best K candidates may end, so that one beam is greedy search.
        ends_now = ends[:, :beams] & (score[:, :beams] > NEG_INF / 2)
        penalised = ops.where(ends_now, penalised[:, :beams], NEG_INF)
        scores = ops.concatenate([state.finished_score, penalised], axis=1)  # (B, 2 K)
        texts = ()
        if self.spelling:
            texts = ops.concatenate([state.finished_spelled, spelled[:, :beams]], axis=1)
        # In a narrowing beam, each finished sequence replaces a beam, so all of them must count.
        scores, order = self._best(scores, texts, beams, repeats=self.narrowing)
        ids = ops.concatenate([state.finished_ids, ids[:, :beams]], axis=1)
        return {
            "finished_ids": pick(ids, order),
            "finished_score": scores,
            "finished_spelled": pick(texts, order) if self.spelling else (),
        }

    def _best(self, scores, texts, count, repeats=False):
        """Returns the highest `count` of scores (B, any), and their places, (B, count) each.

        Args:
            scores: float32 tensor (B, any).
            texts: int32 tensor (B, any), their hashes; () without a spelling.
            repeats: Whether sequences with the same text all count.
        """
        if repeats or not self.spelling:
            return ops.top_k(scores, count)
        scores, order = ops.top_k(scores, scores.shape[1])
        scores = without_repeats(scores, pick(texts, order))
        scores, index = ops.top_k(scores, count)
        return scores, pick(order, index)

    def _is_done(self, finished, alive, length, max_lengths):
        """Returns whether each row is done; scores (B, ...) of finished and alive sequences."""
        best = _column(alive, 0)
        if self.narrowing:
            return best <= NEG_INF / 2
        worst = _column(finished, self.n_best - 1)  # The worst that would be returned.
        # Log-probabilities only fall, coverage only costs, and the largest length divides by most.
        unbeatable = worst >= best / self._penalty(max_lengths)
        enough = _column(finished, self.beam_size - 1) > NEG_INF / 2
        return unbeatable | (enough & (worst >= best / self._penalty(length)))

    def _penalty(self, length):
        offset = self.length_offset
        ratio = (offset + ops.cast(length, "float32")) / (offset + 1.0)
        return ops.power(ratio, self.length_penalty)

    def _coverage_score(self, coverage, beam):
        """Returns the coverage penalty of each beam in `beam` (B, C): (B, C), or 0 for none."""
        if not self.coverage_penalty:
            return 0.0
        received = ops.minimum(pick(coverage, beam), 1.0)  # (B, C, S)
        covered = ops.where(received > 0, ops.log(received), 0.0)  # Padding gets exactly 0.
        return self.coverage_penalty * ops.sum(covered, axis=-1)

    def _freeze_ended(self, old, new, max_lengths):
        """Freezes the rows that had ended: other rows must not change their result."""
        if is_single_row(old):
            return new
        ended = old.ended | (old.position >= max_lengths)  # (B,)

        frozen = ["ids", "score", "finished_ids", "finished_score", "ended"]
        if self.coverage_penalty:
            frozen.append("coverage")
        if self.spelling:
            frozen += ["spelled", "finished_spelled"]
        kept = {n: where_rows(ended, getattr(old, n), getattr(new, n)) for n in frozen}
        return new._replace(**kept)

    def _output(self, state, max_lengths):
        """Returns the best of the finished sequences and, in rows not done, the unfinished ones."""
        cut = state.score / self._penalty(max_lengths)[:, None]
        if self.coverage_penalty:
            own = ops.arange(self.beam_size, dtype="int32") + ops.zeros_like(state.last)
            cut = cut + self._coverage_score(state.coverage, own)
        unfinished = (state.score > NEG_INF / 2) & ops.logical_not(state.ended)[:, None]
        cut = ops.where(unfinished, cut, NEG_INF)
        scores, texts = ops.concatenate([state.finished_score, cut], axis=1), ()
        if self.spelling:
            texts = ops.concatenate([state.finished_spelled, state.spelled], axis=1)
        scores, order = self._best(scores, texts, self.n_best)
        ids = pick(ops.concatenate([state.finished_ids, state.ids], axis=1), order)
        return SearchOutput(ids, scores, (order < self.beam_size) & (scores > NEG_INF / 2))


class _BeamState(NamedTuple):
    position: Any  # int32 ()
    last: Any  # int32 (B, K), the ids that the next step reads
    ids: Any  # int32 (B, K, T), unfinished
    slots: Any  # int32 (B, K, T): which slot of each position is its ancestor; () if unused
    score: Any  # float32 (B, K), sums of log-probabilities, best first
    finished_ids: Any  # int32 (B, K, T)
    finished_score: Any  # float32 (B, K), length-penalised, best first
    spelled: Any  # int32 (B, K), hashes of the unfinished texts; () without a spelling
    finished_spelled: Any  # int32 (B, K), of the finished ones, likewise
    ended: Any  # bool (B,)
    coverage: Any  # float32 (B, K, S), attention received so far; () without a penalty
    rows: Any  # int32 (B,), or (), from `kformer.decoding.search.compaction.initial_rows`
    cache: Any


def _column(scores, rank):
    """Returns column `rank` of `scores` (B, K): (B,)."""
    return ops.reshape(ops.slice(scores, (0, rank), (ops.shape(scores)[0], 1)), (-1,))
