"""Tables of fewer bytes: what is looked up in them."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kformer.export.byte_codec.scan import looked_up, narrowed

BOUNDS = [0, 2**8 - 1, 2**8, 2**15, 2**16 - 1, 2**16, 2**31 - 1]


@given(
    st.sampled_from(BOUNDS).flatmap(
        lambda most: arrays(
            np.int32,
            st.integers(1, 9),
            elements=st.sampled_from([0, most // 2, most]) | st.integers(0, most),
        )
    )
)
def test_a_narrowed_table_says_the_same(table):
    table = table.astype(np.int32)
    found = looked_up(tf.constant(narrowed(table)), tf.range(len(table)))
    assert found.dtype == tf.int32
    np.testing.assert_array_equal(found, table)


@pytest.mark.parametrize(
    ("most", "bytes_each"), [(2**8 - 1, 1), (2**8, 2), (2**16 - 1, 2), (2**16, 4)]
)
def test_numbers_take_as_few_bytes_as_they_need(most, bytes_each):
    assert narrowed(np.array([0, most], np.int32)).nbytes == 2 * bytes_each


def test_tables_with_numbers_below_0_or_of_other_types_stay():
    for table in (np.array([-1, 5], np.int32), np.array([1, 5], np.uint8)):
        assert narrowed(table) is table
