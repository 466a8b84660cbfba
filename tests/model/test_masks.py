import numpy as np

from kformer import causal_mask, padding_mask


def test_the_padding_mask_hides_padding_from_every_query():
    mask = padding_mask(np.array([[7, 5, 0], [3, 0, 0]]))
    expected = [[[[True, True, False]]], [[[True, False, False]]]]
    np.testing.assert_array_equal(mask, expected)


def test_the_padding_id_is_an_argument():
    mask = padding_mask(np.array([[0, 9, 2]]), padding_id=9)
    np.testing.assert_array_equal(mask, [[[[True, False, True]]]])


def test_an_ignored_id_is_hidden_unless_its_row_begins_with_it():
    mask = padding_mask(np.array([[7, 3, 0], [3, 0, 0], [3, 5, 3]]), ignored_id=3)
    expected = [[True, False, False], [True, False, False], [True, True, False]]
    np.testing.assert_array_equal(np.asarray(mask)[:, 0, 0], expected)


def test_the_causal_mask_is_the_lower_triangle():
    expected = [[[[True, False, False], [True, True, False], [True, True, True]]]]
    np.testing.assert_array_equal(causal_mask(3), expected)


def test_masks_combine_with_and():
    mask = causal_mask(3) & padding_mask(np.array([[4, 0, 6]]))
    expected = [[[[True, False, False], [True, False, False], [True, False, True]]]]
    np.testing.assert_array_equal(mask, expected)
