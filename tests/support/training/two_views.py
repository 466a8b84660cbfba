"""Batches of consistency training, compared with the batches of the same text without it."""

import numpy as np
import tensorflow as tf


def values_of(batches):
    """All tensors of each batch, inputs first, as lists of arrays."""
    return [tf.nest.flatten(element) for element in batches.as_numpy_iterator()]


def assert_views(plain, views, tokenizers, cutoff, left_out):
    """Asserts that rows 2 i of `views` are those of `plain`, and rows 2 i + 1 the same, but cut.

    Args:
        plain, views: Batches, as `values_of` returns them.
        tokenizers: `kformer.Tokenizer` of each input.
        cutoff: Expected share of tokens that are cut off.
        left_out: Whether the second rows take no part in the cross entropy.
    """
    assert len(plain) == len(views)
    cut = text = 0
    for (*inputs, expected), (*pairs, marked) in zip(plain, views, strict=True):
        for tokenizer, ids, pair in zip(tokenizers, inputs, pairs, strict=True):
            np.testing.assert_array_equal(pair[::2], ids)
            special = tokenizer.padding_id, tokenizer.start_id, tokenizer.end_id
            is_special, is_cut = np.isin(ids, special), pair[1::2] != ids
            assert not (is_cut & is_special).any()
            assert (pair[1::2][is_cut] == tokenizer.unknown_id).all()
            cut, text = cut + is_cut.sum(), text + (~is_special).sum()
        values = expected if expected.ndim == 3 else expected[..., None]
        for view in (0, 1):
            np.testing.assert_array_equal(marked[view::2, ..., 0], values)
            assert (marked[view::2, ..., 1] == (view and left_out)).all()
    assert abs(cut / text - cutoff) < 4 * (cutoff * (1 - cutoff) / text) ** 0.5 + 1e-9
