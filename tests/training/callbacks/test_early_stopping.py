"""Early stopping, with scripted scores instead of a model."""

import math
import types

import pytest

from kformer.training import StopWithoutImprovement


@pytest.mark.parametrize(
    ("patience", "scores", "epochs"),
    [
        (1, [5.0, 4.0, 4.0, 1.0], 3),
        (2, [5.0, 6.0, 4.0, 6.0, 4.0, 1.0], 5),
        (2, [math.nan, math.nan, 4.0], 2),
        (3, [5.0, 6.0, 6.0, 4.0], None),
    ],
)
def test_training_stops_after_epochs_in_a_row_without_improvement(patience, scores, epochs):
    callback = StopWithoutImprovement(patience, "val_loss")
    callback.set_model(model := types.SimpleNamespace(stop_training=False))
    stopped = []
    for epoch, score in enumerate(scores, start=1):
        callback.on_epoch_end(epoch - 1, {"val_loss": score})
        stopped += [epoch] * model.stop_training
    assert (stopped or [None])[0] == epochs


def test_the_score_must_be_in_the_logs_and_the_patience_positive():
    with pytest.raises(ValueError, match=r"monitor='val_bleu', logs of \['loss'\]"):
        StopWithoutImprovement(1, "val_bleu").on_epoch_end(0, {"loss": 1.0})
    with pytest.raises(ValueError, match="Received: patience=0"):
        StopWithoutImprovement(0)
