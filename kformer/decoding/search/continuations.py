"""The best next ids of every beam, and their log-probabilities.

Axes: B batch, K beams, T largest length, V vocabulary, C best ids, N entries picked.
"""

from typing import Any

from keras import ops

from kformer.backend import gather
from kformer.decoding.search.search_loop import Step, StepOutput

# The score of ids that must not be chosen: finite, so that sums stay finite. Scores of real
# sequences are over half of it.
NEG_INF = -1e9


def best_continuations(
    step: Step, output: StepOutput, count: int, constraints: tuple, state: Any
) -> tuple[Any, Any]:
    """Returns the best next ids of each beam, and their log-probabilities.

    Args:
        state: of the search, with `ids`, int32 (B, K, T), the ids chosen so far, and
            `position`, their number.

    Returns:
        log_probabilities: float32 tensor (B, K, C), the highest first.
        ids: int32 tensor (B, K, C).
    """
    if constraints:
        best, ids = step.top_k(_constrained(step, output.logits, constraints, state), count)
        return best, ops.cast(ids, "int32")
    logits = ops.cast(output.logits, "float32")
    best, ids = step.top_k(_allowed(step, logits, output.candidates), count)
    ids = ops.cast(ids, "int32")
    # Of all V log-probabilities only the best are needed: log-sum-exp is one pass, not three.
    if step.refusal is not None:  # The highest may be of an id that is refused.
        highest = ops.max(logits, axis=-1, keepdims=True)
        gains = best - (highest + step.log_sum_exp(logits, highest))
    else:
        beyond = step.log_sum_exp(logits, best)
        highest = best if count == 1 else ops.max(best, axis=-1, keepdims=True)
        gains = -beyond if count == 1 else best - (highest + beyond)
    if output.candidates is not None:
        places = ops.reshape(ids, (-1, ids.shape[1] * count))  # (B, K * C)
        ids = ops.reshape(pick(output.candidates, places), ops.shape(ids))
    return gains, ids


def all_continuations(step: Step, logits: Any, constraints: tuple, state: Any) -> Any:
    """Returns the log-probabilities of all V ids in their order, float32 (B, K, V)."""
    if constraints:
        return _constrained(step, logits, constraints, state)
    logits = ops.cast(logits, "float32")
    highest = ops.max(logits, axis=-1, keepdims=True)
    beyond = step.log_sum_exp(logits, highest)
    return _allowed(step, logits - (highest + beyond))


def _allowed(step, scores, candidates=None):
    """Returns the scores (B, K, V), or (B, K, N) of candidates (B, N), without refused ids."""
    if step.refusal is None:
        return scores
    refusal = ops.convert_to_tensor(step.refusal)
    if candidates is not None:
        refusal = ops.expand_dims(gather(refusal, candidates), 1)
    return scores + refusal


def _constrained(step, logits, constraints, state):
    """Returns the log-probabilities (B, K, V) after all constraints."""
    values = ops.cast(logits, "float32")
    for constraint in constraints:
        if hasattr(constraint, "penalised"):  # A plain callable has no penalty.
            values = constraint.penalised(values, state.ids, state.position, state.rows)
    values = _allowed(step, ops.log_softmax(values))
    for constraint in constraints:
        values = constraint(values, state.ids, state.position, state.rows)
    return values


def pick(values: Any, order: Any) -> Any:
    """Picks entries `order` (B, N) from axis 1 of `values` (B, M) or (B, M, T)."""
    shape = ops.shape(values)
    first = ops.expand_dims(ops.arange(shape[0], dtype="int32") * shape[1], -1)  # (B, 1)
    flat = ops.reshape(values, (-1, *shape[2:]))  # (B * M,) or (B * M, T)
    return gather(flat, first + order)
