"""Batches of pairs that are sorted by length."""

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from kformer.training.data.batching import Batching, FixedShapes

FORMS = [Batching(64, 24), Batching(30, 30), FixedShapes(64, [8, 16, 24], growth=1.3)]

LENGTHS = [tf.TensorSpec([None], tf.int32)] * 2
CUT = {  # Functions from lengths to the bucket of each batch.
    form: tf.function(
        lambda *lengths, form=form: form.buckets(*lengths, form.limits(*lengths)), LENGTHS
    )
    for form in FORMS
}


@given(
    form=st.sampled_from(FORMS),
    pairs=st.lists(st.tuples(st.integers(1, 18), st.integers(1, 18)), max_size=90),
)
def test_batches_are_counted_as_they_are_cut(form, pairs):
    lengths = [tf.constant(side, tf.int32) for side in np.reshape(pairs, (-1, 2)).T]
    expected = np.bincount(CUT[form](*lengths), minlength=len(form.sizes))
    np.testing.assert_array_equal(form.counts(*lengths), expected)
