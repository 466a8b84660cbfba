"""Ids that come as floats, as pandas and `keras.Input` without a dtype have them."""

import keras
import numpy as np
import pytest

from kformer import (
    SequenceClassifier,
    TokenEmbedding,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)

IDS = np.array([[2909, 257, 3, 0], [2, 4001, 2051, 3]])  # No two are one in 16 bits.
SIZES = (4096, 1, 8, 2, 12)
POLICIES = ["float32", "mixed_bfloat16", "mixed_float16", "bfloat16"]
NETWORKS = {
    "embedding": lambda dtype: TokenEmbedding(4096, 8, dtype=dtype),
    "encoder": lambda dtype: TransformerEncoder(*SIZES, dtype=dtype),
    "decoder": lambda dtype: TransformerDecoder(*SIZES, dtype=dtype),
    "classifier": lambda dtype: SequenceClassifier(
        TransformerEncoder(*SIZES, dtype=dtype), 3, dtype=dtype
    ),
    "transformer": lambda dtype: Transformer(*SIZES, dtype=dtype),
}


@pytest.mark.sample(20)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NETWORKS)
def test_they_are_the_ids_that_they_equal(name, policy):
    network = NETWORKS[name](policy)

    def inputs(dtype):
        ids = IDS.astype(dtype)
        return (ids, ids) if name == "transformer" else ids

    expected = keras.ops.convert_to_numpy(keras.ops.cast(network(inputs("int32")), "float32"))
    for dtype in ("float32", "float64"):
        found = keras.ops.cast(network(inputs(dtype)), "float32")
        np.testing.assert_array_equal(found, expected)
    # As Keras's own embedding, within a model whose inputs are floats by default.
    symbol = keras.Input((None,))
    model = keras.Model(symbol, network((symbol, symbol) if name == "transformer" else symbol))
    found = keras.ops.cast(model(IDS.astype("float32")), "float32")
    np.testing.assert_array_equal(found, expected)
    if name == "transformer":
        named = {"source": IDS.astype("float32"), "target": IDS.astype("float32")}
        found = keras.ops.cast(network(named), "float32")
        np.testing.assert_array_equal(found, expected)


def test_weights_are_cast_as_before():
    embedding = TokenEmbedding(4096, 8, dtype="mixed_bfloat16")
    vectors = keras.ops.convert_to_numpy(keras.ops.cast(embedding(IDS), "float32"))
    rounded = keras.ops.cast(keras.ops.cast(embedding.table, "bfloat16"), "float32")
    expected = keras.ops.convert_to_numpy(rounded)[IDS] * 8**0.5
    assert embedding(IDS).dtype == "bfloat16"
    np.testing.assert_allclose(vectors, expected, rtol=0.01)
