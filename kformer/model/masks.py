"""Masks of whole sequences: the keys that each query may attend to.

Masks are boolean; True means "may attend". Their shape is (B, H, Q, K): batch, heads, queries,
keys; any of these may be 1. As in `keras.layers.MultiHeadAttention`, a mask (B, Q, K) applies to
all heads, and a mask (Q, K) also to all rows of the batch. Combine masks of four axes with `&`.

In `kformer.model`, only `scaled_dot_product_attention` applies masks.
`kformer.decoding` reads one position at a time: it applies the source's `padding_mask` and masks
of its own with the same meaning.
"""

from typing import Any

import keras
from keras import ops


def padding_mask(ids: Any, padding_id: int = 0, ignored_id: int | None = None):
    """Lets every query attend to the keys that are not padding.

    Args:
        ids: integer tensor (B, K).
        padding_id: The id that fills short rows.
        ignored_id: An id that no query attends to either, unless its row begins with it: a row of
            this id alone still has a key. None for none.

    Returns:
        boolean tensor (B, 1, 1, K).

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> print(kformer.padding_mask(np.array([[7, 8, 0]])).shape)
        (1, 1, 1, 3)
        >>> print(np.array(kformer.padding_mask(np.array([[7, 8, 0]]))))
        [[[[ True  True False]]]]
    """
    mask = ops.not_equal(ids, padding_id)
    if ignored_id is not None:
        is_first = ops.equal(ops.arange(ops.shape(ids)[1]), 0)
        mask = mask & (ops.not_equal(ids, ignored_id) | is_first)
    return mask[:, None, None, :]


def causal_mask(length: Any) -> Any:
    """Lets every position attend to itself and to all earlier ones.

    Section 3.2.3 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        length: int or scalar integer tensor, the number of positions T.

    Returns:
        boolean tensor (1, 1, T, T), the lower triangle.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> print(np.array(kformer.causal_mask(3)[0, 0]))
        [[ True False False]
         [ True  True False]
         [ True  True  True]]
    """
    positions = ops.arange(length)
    return (positions[:, None] >= positions[None, :])[None, None]


def with_four_axes(mask: Any, shape: Any):
    """Returns `mask` with its head axis, so that it broadcasts to `shape`.

    Args:
        mask: boolean tensor or array (Q, K), (B, Q, K) or (B, H, Q, K).
        shape: (B, H, Q, K); None for an unknown size.
    """
    if not hasattr(mask, "dtype"):
        mask = ops.convert_to_tensor(mask)
    dtype = keras.backend.standardize_dtype(mask.dtype)
    sizes, shape = tuple(mask.shape), tuple(shape)
    expected = {2: shape[2:], 3: (shape[0], *shape[2:]), 4: shape}.get(len(sizes), ())
    fits = len(expected) == len(sizes) > 0 and all(
        size in (1, None, limit) or limit is None
        for size, limit in zip(sizes, expected, strict=True)
    )
    if dtype != "bool" or not fits:
        raise ValueError(
            "An attention mask must be boolean, of shape (Q, K), (B, Q, K) or (B, H, Q, K), where "
            f"a size may be 1. Received: dtype={dtype}, shape={sizes}, where (B, H, Q, K) is "
            f"{shape}."
        )
    return mask[:, None] if len(sizes) == 3 else mask


def with_keras_mask(mask: Any, keras_mask: Any):
    """Combines `mask` with the mask that Keras attached to the keys.

    Args:
        mask: boolean tensor (B, H, Q, K), (B, Q, K) or (Q, K), or None.
        keras_mask: boolean tensor (B, K), as `keras.layers.Embedding(mask_zero=True)` attaches it
            to its output and Keras passes it on; or None.

    Returns:
        boolean tensor that is True where both are; None if both are None.
    """
    if keras_mask is None:
        return mask
    keys = ops.cast(keras_mask, "bool")[:, None, None, :]
    return keys if mask is None else keys & with_four_axes(mask, (None,) * 4)


def with_causal_mask(mask: Any, length: Any):
    """Combines `mask` with `causal_mask`.

    Args:
        mask: boolean tensor (B, H, T, T), (B, T, T) or (T, T), or None.
        length: int or scalar integer tensor, the number of positions T.

    Returns:
        boolean tensor that is True where both are.
    """
    causal = causal_mask(length)
    return causal if mask is None else causal & with_four_axes(mask, (None,) * 4)
