"""Masks: who may look at whom.

Boolean, True means "may attend", broadcastable to (B, H, Q, K): batch, heads, queries, keys.
Combine them with `&`. `kformer.attention.scaled_dot_product_attention` is the one place that
applies them.
"""

from keras import ops


def padding_mask(ids, padding_id: int = 0):
    """Lets every query see the keys that are not padding.

    Args:
        ids: integer tensor (B, K).
        padding_id: The id that fills short rows.

    Returns:
        boolean tensor (B, 1, 1, K).
    """
    return ops.not_equal(ids, padding_id)[:, None, None, :]


def causal_mask(length):
    """Lets every position see itself and what came before it.

    Section 3.2.3 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).

    Args:
        length: int or scalar integer tensor, the number of positions T.

    Returns:
        boolean tensor (1, 1, T, T), the lower triangle.
    """
    positions = ops.arange(length)
    return (positions[:, None] >= positions[None, :])[None, None]
