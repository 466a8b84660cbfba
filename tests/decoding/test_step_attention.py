"""Attention of one position, computed in either way: as NumPy has it, and alike in all."""

import numpy as np
import pytest
from keras import ops

from kformer.decoding.source_memory import SourceMemory, additive
from kformer.decoding.step_attention import Products, Sums
from kformer.model.attention import KeysValues
from support.reference import attention

B, H, W, S = 3, 2, 5, 7

ways = pytest.mark.parametrize(
    ("way", "beams"),
    [(Products(H, W), 1), (Products(H, W, 4), 4), (Sums(H, W), 1)],
    ids=["product", "products of beams", "sums"],
)


def random(*shape):
    return np.random.normal(size=shape).astype("float32")


def visible_slots(rows, beams, slots):
    """Boolean (rows, beams, slots), at least one of them True for each beam."""
    visible = np.random.random((rows, beams, slots)) < 0.5
    visible[..., 0] = True
    return visible


def expected(query, keys, values, visible):
    """What each beam reads, float (B * K, H * W), of keys and values (B, H, N, W)."""
    heads = attention(query * W**0.5, keys, values, visible[:, None])  # (B, H, K, W)
    return heads.swapaxes(1, 2).reshape(-1, H * W)


@ways
@pytest.mark.parametrize("parts", [1, 3])
def test_vectors_are_split_into_the_heads_of_each_beam(way, beams, parts):
    vectors = random(B * beams, parts * H * W)
    heads = [np.array(part) for part in way.split(ops.array(vectors), parts)]
    assert len(heads) == parts
    for part, row, beam, head in np.ndindex(parts, B, beams, H):
        first = (part * H + head) * W
        expected = vectors[row * beams + beam, first : first + W]
        np.testing.assert_array_equal(heads[part][row, head, beam], expected)


@ways
@pytest.mark.parametrize("rows", [1, B], ids=["one mask for all", "a mask for each row"])
@pytest.mark.parametrize("slots", [[6], [8, 4]], ids=["all slots together", "a block apart"])
def test_the_past_is_averaged_by_how_well_its_keys_match(way, beams, rows, slots):
    query = random(B, H, beams, W)
    past = [KeysValues(random(B, H, n, W), random(B, H, n, W)) for n in slots]
    visible = [visible_slots(rows, beams, n) for n in slots]
    masks = [additive(ops.expand_dims(part, 1)) for part in visible]
    said = way.mix(ops.array(query), tuple(past), tuple(masks))
    keys, values = (np.concatenate(parts, axis=2) for parts in zip(*past, strict=True))
    wanted = expected(query, keys, values, np.concatenate(visible, axis=-1))
    np.testing.assert_allclose(said, wanted, rtol=1e-5, atol=1e-5)


@ways
def test_the_source_is_averaged_likewise_and_the_weights_are_told(way, beams):
    query, keys, values = random(B, H, beams, W), random(B, H, S, W), random(B, H, S, W)
    visible = np.repeat(visible_slots(B, 1, S), beams, axis=1)
    turned = KeysValues(ops.array(keys.swapaxes(2, 3)), ops.array(values))
    memory = way.memory(SourceMemory((turned,), additive(visible[:, None, :1])))
    said, weights = way.look(ops.array(query), memory.layers[0], memory.mask)
    np.testing.assert_allclose(said, expected(query, keys, values, visible), rtol=1e-5, atol=1e-5)
    assert weights.shape == (B, H, beams, S)
    np.testing.assert_allclose(np.sum(weights, axis=-1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(np.array(weights) == 0, ~np.repeat(visible[:, None], H, axis=1))
