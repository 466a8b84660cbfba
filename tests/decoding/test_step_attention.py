"""Attention of one position, computed in each attention, against NumPy."""

import numpy as np
import pytest
from keras import ops

from kformer.decoding.source_memory import SourceMemory, additive_mask
from kformer.decoding.step_attention import ElementwiseAttention, MatmulAttention
from kformer.model.attention import KeysValues
from support import reference

B, H, W, S = 3, 2, 5, 7

each_way = pytest.mark.parametrize(
    ("attention", "beams"),
    [(MatmulAttention(H, W), 1), (MatmulAttention(H, W, 4), 4), (ElementwiseAttention(H, W), 1)],
    ids=["products", "products of beams", "elementwise"],
)


def random(*shape):
    return np.random.normal(size=shape).astype("float32")


def visible_slots(rows, beams, slots):
    """Boolean (rows, beams, slots), at least one of them True for each beam."""
    visible = np.random.random((rows, beams, slots)) < 0.5
    visible[..., 0] = True
    return visible


def expected(query, keys, values, visible):
    """The average of each beam, float (B * K, H * W), of keys and values (B, H, N, W)."""
    heads = reference.attention(query * W**0.5, keys, values, visible[:, None])  # (B, H, K, W)
    return heads.swapaxes(1, 2).reshape(-1, H * W)


@each_way
@pytest.mark.parametrize("parts", [1, 3])
def test_vectors_are_split_into_the_heads_of_each_beam(attention, beams, parts):
    vectors = random(B * beams, parts * H * W)
    heads = [np.array(part) for part in attention.split(ops.array(vectors), parts)]
    assert len(heads) == parts
    for part, row, beam, head in np.ndindex(parts, B, beams, H):
        first = (part * H + head) * W
        expected = vectors[row * beams + beam, first : first + W]
        np.testing.assert_array_equal(heads[part][row, head, beam], expected)


@each_way
@pytest.mark.parametrize("rows", [1, B], ids=["one mask for all", "a mask for each row"])
@pytest.mark.parametrize("slots", [[6], [8, 4]], ids=["all slots together", "a block apart"])
def test_cached_values_are_averaged_by_how_well_their_keys_match(attention, beams, rows, slots):
    query = random(B, H, beams, W)
    cached = [KeysValues(random(B, H, n, W), random(B, H, n, W)) for n in slots]
    visible = [visible_slots(rows, beams, n) for n in slots]
    masks = [additive_mask(ops.expand_dims(part, 1)) for part in visible]
    output = attention.attend_cache(ops.array(query), tuple(cached), tuple(masks))
    keys, values = (np.concatenate(parts, axis=2) for parts in zip(*cached, strict=True))
    averages = expected(query, keys, values, np.concatenate(visible, axis=-1))
    np.testing.assert_allclose(output, averages, rtol=1e-5, atol=1e-5)


@each_way
def test_the_source_is_averaged_likewise_and_the_weights_are_returned(attention, beams):
    query, keys, values = random(B, H, beams, W), random(B, H, S, W), random(B, H, S, W)
    visible = np.repeat(visible_slots(B, 1, S), beams, axis=1)
    turned = KeysValues(ops.array(keys.swapaxes(2, 3)), ops.array(values))
    memory = attention.prepare_memory(SourceMemory((turned,), additive_mask(visible[:, None, :1])))
    output, weights = attention.attend_memory(ops.array(query), memory.layers[0], memory.mask)
    np.testing.assert_allclose(output, expected(query, keys, values, visible), rtol=1e-5, atol=1e-5)
    assert weights.shape == (B, H, beams, S)
    np.testing.assert_allclose(np.sum(weights, axis=-1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(np.array(weights) == 0, ~np.repeat(visible[:, None], H, axis=1))
