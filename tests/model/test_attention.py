import re

import keras
import numpy as np
import pytest

from kformer import MultiHeadAttention, scaled_dot_product_attention
from support import reference
from support.reference import Model, perturbed, weights_of

B, H, Q, K, W = 2, 3, 5, 7, 11  # Primes: no two axes can be confused.


def random(*shape):
    return np.random.normal(size=shape)


def random_mask(*shape):
    """At least the first key may be attended to."""
    return (np.random.uniform(size=shape) < 0.5) | (np.arange(shape[-1]) == 0)


def test_it_is_equation_1():
    query, key, value = random(B, H, Q, W), random(B, H, K, W), random(B, H, K, W)
    output, _ = scaled_dot_product_attention(query, key, value)
    np.testing.assert_allclose(output, reference.attention(query, key, value, True), atol=1e-5)


def test_a_case_worked_by_hand():
    query, key = [[[[2.0, 0, 0, 0]]]], [[[[0.0, 0, 0, 0], [np.log(3), 0, 0, 0]]]]
    output, weights = scaled_dot_product_attention(
        keras.ops.array(query), keras.ops.array(key), keras.ops.array([[[[4.0], [8.0]]]])
    )
    np.testing.assert_allclose(weights, [[[[0.25, 0.75]]]], rtol=1e-6)
    np.testing.assert_allclose(output, [[[[7.0]]]], rtol=1e-6)


def test_weights_sum_to_1_and_masked_keys_have_none():
    mask = random_mask(B, H, Q, K)
    _, weights = scaled_dot_product_attention(
        random(B, H, Q, W), random(B, H, K, W), random(B, H, K, W), mask
    )
    np.testing.assert_allclose(np.sum(weights, axis=-1), np.ones((B, H, Q)), rtol=1e-6)
    assert (np.array(weights)[~mask] == 0).all()
    assert (np.array(weights)[mask] > 0).all()


def test_a_key_alone_gets_all_the_weight():
    value = random(B, H, 1, W)
    _, weights = scaled_dot_product_attention(random(B, H, Q, W), value, value)
    np.testing.assert_array_equal(weights, np.ones((B, H, Q, 1)))


def test_a_masked_key_cannot_change_the_output():
    query, key, value = random(B, H, Q, W), random(B, H, K, W), random(B, H, K, W)
    mask = (np.arange(K) < K - 1)[None]
    changed = np.where(mask[..., None], value, 1e3)
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    also, _ = scaled_dot_product_attention(
        query, np.where(mask[..., None], key, 1e3), changed, mask
    )
    np.testing.assert_array_equal(output, also)


def test_a_fully_masked_row_gives_the_mean_and_not_nan():
    value = random(B, H, K, W)
    output, _ = scaled_dot_product_attention(
        random(B, H, Q, W), random(B, H, K, W), value, np.zeros((1, K), bool)
    )
    mean = np.broadcast_to(value.mean(axis=2, keepdims=True), (B, H, Q, W))
    np.testing.assert_allclose(output, mean, atol=1e-6)


def keras_and_ours():
    """An attention of Keras's own, and ours with the same weights."""
    ours = MultiHeadAttention(H * W, H)
    theirs = keras.layers.MultiHeadAttention(H, W)
    vectors = random(B, Q, H * W)
    ours(vectors, vectors), theirs(vectors, vectors)
    perturbed(ours)
    for name, projection in (
        ("query", "query_dense"),
        ("key", "key_dense"),
        ("value", "value_dense"),
    ):
        kernel, bias = getattr(ours, f"{name}_projection").get_weights()
        getattr(theirs, projection).set_weights([kernel.reshape(-1, H, W), bias.reshape(H, W)])
    kernel, bias = ours.output_projection.get_weights()
    theirs.output_dense.set_weights([kernel.reshape(H, W, -1), bias])
    return theirs, ours


@pytest.mark.sample(4)
@pytest.mark.parametrize("shape", [(Q, K), (B, Q, K), (B, 1, K), (1, Q, K), (B, H, Q, K)])
@pytest.mark.parametrize("rows", [B, H], ids=["", "as many rows as heads"])
def test_a_mask_is_read_as_keras_reads_it(shape, rows):
    theirs, ours = keras_and_ours()
    shape = tuple(rows if size == B else size for size in shape)
    query, value, mask = random(rows, Q, H * W), random(rows, K, H * W), random_mask(*shape)
    expected, weights = theirs(query, value, attention_mask=mask, return_attention_scores=True)
    output, looked = ours(query, value, mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(looked, weights, atol=1e-5)


@pytest.mark.parametrize("shape", [(), (K,), (K, Q), (Q, Q, K), (H, Q, K), (B, Q, K, 1), (1,) * 5])
def test_a_mask_of_another_shape_is_an_error(shape):
    layer, query, value = MultiHeadAttention(H * W, H), random(B, Q, H * W), random(B, K, H * W)
    mask = np.ones(shape, bool)
    received = re.escape(f"shape={shape}, where (B, H, Q, K) is {(B, H, Q, K)}")
    with pytest.raises(ValueError, match=received):
        layer(query, value, mask)
    with pytest.raises(ValueError, match=received):
        layer(*(keras.Input(batch_shape=x.shape) for x in (query, value)), mask)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_a_mask_of_numbers_is_an_error(dtype):
    query = random(B, H, Q, W)
    with pytest.raises(ValueError, match=f"must be boolean.* Received: dtype={dtype}"):
        scaled_dot_product_attention(query, query, query, np.ones((Q, Q), dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_are_at_least_float32(dtype):
    query, key = (keras.ops.cast(10 * random(B, H, n, W), dtype) for n in (Q, K))
    output, weights = scaled_dot_product_attention(query, key, key, random_mask(Q, K))
    assert output.dtype == dtype and weights.dtype == "float32"
    assert np.isfinite(weights).all()


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_heads_are_those_of_section_3_2_2(dtype, tolerance):
    layer = MultiHeadAttention(H * W, H, name="attention", dtype=dtype)
    query, value, mask = random(B, Q, H * W), random(B, K, H * W), random_mask(B, Q, K)
    layer(query, value)
    perturbed(layer)
    output, _ = layer(query, value, mask[:, None])
    model = Model(weights_of(layer), num_heads=H)
    expected = reference.multi_head_attention(query, value, mask, model, "attention")
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


def test_attending_to_kept_keys_and_values_is_the_same_as_calling():
    layer = MultiHeadAttention(H * W, H)
    query, value, mask = random(B, Q, H * W), random(B, K, H * W), random_mask(B, 1, Q, K)
    called = layer(query, value, mask)
    attended = layer.attend(query, layer.project(value), mask)
    for one, other in zip(called, attended, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("num_heads", [2, 0, -7])
def test_heads_must_divide_the_width(num_heads):
    with pytest.raises(ValueError, match=f"Received: d_model=7, num_heads={num_heads}"):
        MultiHeadAttention(d_model=7, num_heads=num_heads)


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        ({"num_heads": 4, "key_dim": 3}, r"MultiHeadAttention\(d_model=12, num_heads=4\)"),
        ({"embed_dim": 12, "num_heads": 4}, "`d_model` is the width .* `embed_dim`"),
    ],
)
def test_arguments_of_other_libraries_are_answered_by_ours(arguments, cure):
    received = ", ".join(f"{name}={value}" for name, value in arguments.items())
    with pytest.raises(TypeError, match=rf"{cure}.* Received: MultiHeadAttention\({received}\)"):
        MultiHeadAttention(**arguments)
