"""An ensemble: several models that choose the next id together, in any search.

Axes: B batch, K beams, V vocabulary, M models.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from keras import ops

from kformer.decoding.search.search_loop import Step, StepOutput


class EnsembleStep(Step):
    """Averages the probabilities of several steps, and their attention.

    The logits that it returns are the logarithms of the mean probabilities, plus the mean of the
    steps' own normalizers. So they equal the logits of one step where all agree, and a penalty on
    logits is as strong as for a single model. The cache is a tuple of the steps' caches.

    Args:
        steps: M steps of one vocabulary, for the same batch, candidates, beams and runtime.
    """

    def __init__(self, steps: Sequence[Step]):
        self._steps = tuple(steps)
        first = self._steps[0]
        self.top_k, self.log_sum_exp, self.write = first.top_k, first.log_sum_exp, first.write
        # A recurrent state has no blocks and no capacities.
        self.block = next((step.block for step in self._steps if step.block), None)
        self.capacities = max((step.capacities for step in self._steps), key=len)
        self.compact_batch = first.compact_batch
        refusals = [step.refusal for step in self._steps if step.refusal is not None]
        self.refusal = np.minimum.reduce(refusals) if refusals else None
        self.uses_visible = any(step.uses_visible for step in self._steps)

    def __call__(self, ids: Any, position: Any, visible: Any, cache: tuple) -> StepOutput:
        outputs = self._map_steps(lambda step, own: step(ids, position, visible, own), cache)
        logits = ops.stack(
            [ops.cast(output.logits, "float32") for output in outputs]
        )  # (M, B, K, V)
        normalizers = ops.logsumexp(logits, axis=-1, keepdims=True)
        mean = ops.logsumexp(logits - normalizers, axis=0) - math.log(len(outputs))  # (B, K, V)
        mean = mean + ops.mean(normalizers, axis=0)
        attention = [output.attention for output in outputs]
        return StepOutput(
            mean,
            tuple(output.cache for output in outputs),
            None
            if any(weights is None for weights in attention)
            else sum(attention) / len(attention),
            outputs[0].candidates,
        )

    def reorder(self, cache: tuple, parents: Any) -> tuple:
        return self._map_steps(lambda step, own: step.reorder(own, parents), cache)

    def flush(self, cache: tuple, start: Any) -> tuple:
        return self._map_steps(lambda step, own: step.flush(own, start), cache)

    def grow(self, cache: tuple, positions: int) -> tuple:
        return self._map_steps(lambda step, own: step.grow(own, positions), cache)

    def rebuild(self) -> "EnsembleStep":
        return EnsembleStep([step.rebuild() for step in self._steps])

    def gather_rows(self, cache: tuple, rows: Any) -> tuple:
        return self._map_steps(lambda step, own: step.gather_rows(own, rows), cache)

    def _map_steps(self, function, cache):
        return tuple(function(step, own) for step, own in zip(self._steps, cache, strict=True))
