"""The processes of a run meet: all save, stop and choose alike, though only one has a reason to."""

import time

from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.parallel.process_team import ProcessTeam, team
from kformer.training.resumption.saving import Together

_SECONDS = 1.0  # Between two meetings, about.


class Agreement(Together):
    """Has the processes of a team save and stop after the same batches; process 0 writes.

    The processes meet every few batches, about once a second. One alone meets after every batch.

    Args:
        team: `ProcessTeam`.
    """

    def __init__(self, team: ProcessTeam):
        self.writes = team.process == 0
        self._team = team
        self._every = self._left = 1
        self._met = time.monotonic()

    def meet(self, late: bool, signal_number: int | None, now: bool = False):
        if self._team.processes == 1:
            return late, signal_number
        self._left -= 1
        if self._left and not now:
            return False, None
        seconds = (time.monotonic() - self._met) / (self._every - self._left)
        states = self._team.exchange([late, signal_number, seconds], _is_state)
        self._met = time.monotonic()
        late, _, seconds = states[0]
        self._left = self._every = min(max(round(_SECONDS / max(seconds, 1e-3)), 1), 1000)
        return late, max((number for _, number, _ in states if number), default=None)


class SameScores(ValidationCallback):
    """Gives all processes the scores of process 0, by which they choose the best model."""

    def on_validation(self, epoch: float, logs: dict):
        if team().processes > 1:
            scores = {name: float(value) for name, value in logs.items()}
            logs.update(team().exchange(scores, _are_scores)[0])


def _is_state(value):
    """Whether a value is the state of a process at a meeting: late, signal, seconds of a batch."""
    if not isinstance(value, list) or [*map(type, value[::2])] != [bool, float]:
        return False
    return len(value) == 3 and (value[1] is None or type(value[1]) is int)


def _are_scores(value):
    """Whether a value maps names, as all keys of JSON are, to numbers."""
    return isinstance(value, dict) and all(type(score) is float for score in value.values())
