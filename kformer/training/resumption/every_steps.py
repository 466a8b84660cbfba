"""Counts the steps between two checkpoints, or between two validations."""

import keras

from kformer.backend import step_of


class EverySteps:
    """Tells after which batches another `steps` steps are done; with 0, after none.

    A step is an update of the weights. With gradient accumulation it takes several batches.
    """

    def __init__(self, steps: int):
        self._steps = steps
        self._step = 0

    def begin(self, model: keras.Model):
        """Call this when training begins or resumes; nothing is due at that step."""
        self._step = step_of(model)

    def due(self, model: keras.Model) -> bool:
        """Returns whether the steps are done; call this after every batch."""
        if not self._steps:
            return False
        before, self._step = self._step, step_of(model)
        return self._step != before and self._step % self._steps == 0
