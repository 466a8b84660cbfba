"""Greedy search.

Axes: B batch, T largest length, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from keras import ops

from kformer.decoding.search.compaction import initial_rows, remaining
from kformer.decoding.search.constraints import Constraint
from kformer.decoding.search.continuations import best_continuations
from kformer.decoding.search.search_loop import SearchOutput, Step, is_single_row, loop


class Greedy:
    """Takes the best id at every step.

    The score of a sequence is the sum of its ids' log-probabilities, the end id included.

    Args:
        start_id: The id that the first step reads, unless it continues a prompt.
        end_id: The id that ends a sequence.
        padding_id: The id that fills a row after its end.
        constraints: Restrictions of the choice, of `kformer.decoding.search.constraints`.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> from kformer.decoding.decoder_step import start_decoding
        >>> model = kformer.Transformer(10, num_layers=1, d_model=16, num_heads=2, d_ff=32)
        >>> step, cache = start_decoding(model, source=np.array([[5, 6, 3]]), max_length=7)
        >>> greedy = kformer.Greedy(start_id=2, end_id=3)
        >>> output = greedy(step, cache, max_lengths=np.array([7], "int32"))
        >>> print(output.ids.shape)  # Rows, sequences of each, and ids.
        (1, 1, 7)
    """

    beam_size = 1

    def __init__(
        self,
        start_id: int = 2,
        end_id: int = 3,
        padding_id: int = 0,
        constraints: Sequence[Constraint] = (),
    ):
        self.start_id = start_id
        self.end_id = end_id
        self.padding_id = padding_id
        self.constraints = tuple(constraints)

    def __call__(
        self, step: Step, cache: Any, max_lengths: Any, max_length: Any = None
    ) -> SearchOutput:
        """Searches.

        Args:
            max_lengths: int32 tensor (B,), the largest number of ids of each row.
        """
        batch = ops.shape(max_lengths)[0]
        max_length = ops.max(max_lengths) if max_length is None else max_length
        state = _GreedyState(
            position=ops.convert_to_tensor(0, "int32"),
            last=step.first_ids(self.start_id, batch, 1),
            ids=ops.full((batch, 1, max_length), self.padding_id, "int32"),
            score=ops.zeros((batch, 1), "float32"),
            ended=ops.zeros((batch,), "bool"),
            rows=initial_rows(step, batch),
            cache=cache,
        )
        state = loop(
            state, lambda step, state: self._advance(step, state, max_lengths), max_lengths, step
        )
        return SearchOutput(state.ids, state.score, ops.expand_dims(state.ended, -1))

    def _advance(self, step, state, max_lengths):
        position = state.position
        output = step(state.last, position, None, state.cache)
        gain, chosen = self._choose(step, output, state)  # (B, 1) each
        ended = ops.equal(chosen, self.end_id)
        if not is_single_row(state):
            running = position < remaining(max_lengths, state.rows)
            running = ops.logical_not(state.ended) & running
            running = ops.expand_dims(running, -1)  # (B, 1)
            chosen = ops.where(running, chosen, self.padding_id)
            gain = ops.where(running, gain, 0.0)
            ended = ops.where(running, ended, ops.expand_dims(state.ended, -1))
        return _GreedyState(
            position=position + 1,
            last=chosen,
            ids=step.write(state.ids, chosen, position),
            score=state.score + gain,
            ended=ops.squeeze(ended, -1),
            rows=state.rows,
            cache=output.cache,
        )

    def _choose(self, step, output, state):
        """Returns the log-probability of the next id, and the id; (B, 1) each."""
        gain, best = best_continuations(step, output, 1, self.constraints, state)
        return ops.squeeze(gain, -1), ops.squeeze(best, -1)


class _GreedyState(NamedTuple):
    position: Any  # int32 ()
    last: Any  # int32 (B, 1), the ids that the next step reads
    ids: Any  # int32 (B, 1, T)
    score: Any  # float32 (B, 1)
    ended: Any  # bool (B,)
    rows: Any  # int32 (B,), or (), from `kformer.decoding.search.compaction.initial_rows`
    cache: Any
