"""Macro F1 in training, against the scores of `kformer classify evaluate`."""

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.text.label_scores import class_scores
from kformer.training.objective.metrics import MacroF1

LABELS = "abc"
texts = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)


@given(st.lists(texts, min_size=1, max_size=3))
def test_it_is_the_score_of_all_batches_without_their_padding(batches):
    metric = MacroF1(3)
    for batch in batches:
        right, given = (
            np.array([LABELS.index(one) for one in side]) for side in zip(*batch, strict=True)
        )
        logits = np.eye(3, dtype="float32")[given] * 7
        metric.update_state(np.append(right, -1), np.append(logits, [[0, 9, 0]], axis=0))
    expected, predicted = zip(*(pair for batch in batches for pair in batch), strict=True)
    scores = class_scores(LABELS, expected, predicted)
    assert float(metric.result()) == pytest.approx(scores.macro_f1, rel=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0


def test_a_text_counts_as_often_as_its_weight():
    weighted, repeated = MacroF1(2), MacroF1(2)
    right, logits = np.array([0, 1, 1]), np.array([[3, 1], [2, 0], [0, 1]], "float32")
    weighted.update_state(right, logits, sample_weight=np.array([1, 3, 2]))
    places = [0, 1, 1, 1, 2, 2]
    repeated.update_state(right[places], logits[places])
    assert float(weighted.result()) == pytest.approx(float(repeated.result()))
    again = keras.metrics.deserialize(keras.metrics.serialize(weighted))
    assert again.get_config() == weighted.get_config()
