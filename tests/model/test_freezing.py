"""What is frozen stays frozen when it is saved and loaded."""

import warnings

import keras
import numpy as np
import pytest

from kformer import (
    Encoder,
    MultiHeadAttention,
    SequenceClassifier,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)

SIZES = (30, 2, 8, 2, 12)
IDS = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
NETWORKS = {
    "encoder": lambda: TransformerEncoder(*SIZES),
    "decoder": lambda: TransformerDecoder(*SIZES),
    "classifier": lambda: SequenceClassifier(TransformerEncoder(*SIZES), 3),
    "transformer": lambda: Transformer(*SIZES),
}
PARTS = {
    "all": lambda network: [network],
    "stack": lambda network: [network.encoder],
    "layers": lambda network: network.encoder.parts[:1],
    "embedding and a norm": lambda network: [
        stack_of(network).layers[1].feed_forward_residual.norm,
        getattr(network, "source_embedding", None) or network.encoder.source_embedding,
    ],
    "one matrix": lambda network: [stack_of(network).layers[0].attention.query_projection],
}


def stack_of(network):
    return network.encoder if isinstance(network.encoder, Encoder) else network.encoder.encoder


def flags(network):
    return [(one.path.partition("/")[2], one.trainable) for one in network.variables]


def again(network, path):
    network.save(path)
    return keras.saving.load_model(path)


@pytest.mark.sample(21)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", NETWORKS)
def test_each_part_of_each_network(tmp_path, name, parts):
    network = NETWORKS[name]()
    for part in PARTS[parts](network):
        part.trainable = False
    loaded = again(network, tmp_path / "network.keras")
    assert [trainable for _, trainable in flags(loaded)] == [one for _, one in flags(network)]
    assert len(loaded.trainable_variables) == len(network.trainable_variables)
    copied = network.copy()
    assert len(copied.trainable_variables) == len(network.trainable_variables)
    for trainable in (False, True):  # It can be undone.
        loaded.trainable = trainable
    assert len(loaded.trainable_variables) == len(NETWORKS[name]().trainable_variables)


@pytest.mark.prove
def test_a_part_of_a_frozen_part_may_be_trained(tmp_path):
    network = Transformer(*SIZES)
    network.encoder.trainable = False
    network.encoder.layers[1].attention.trainable = True
    loaded = again(network, tmp_path / "network.keras")
    assert loaded.encoder.layers[1].attention.trainable
    assert not loaded.encoder.layers[1].feed_forward.trainable
    assert [trainable for _, trainable in flags(loaded)] == [one for _, one in flags(network)]


def test_a_layer_in_a_model_of_keras(tmp_path):
    symbol = keras.Input((None, 8))
    attention = MultiHeadAttention(8, 2)
    model = keras.Model(symbol, attention(symbol, symbol)[0])
    attention.key_projection.trainable = False
    loaded = again(model, tmp_path / "model.keras")
    assert len(loaded.trainable_variables) == len(model.trainable_variables) == 6
    for one, other in zip(loaded.weights, model.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.prove
def test_a_quantized_network(tmp_path):
    network = TransformerEncoder(*SIZES)
    network.encoder.layers[0].trainable = False
    with warnings.catch_warnings(action="ignore"):  # Keras names the layers that it leaves alone.
        network.quantize("int8")
    loaded = again(network, tmp_path / "network.keras")
    np.testing.assert_array_equal(loaded(IDS), network(IDS))
    assert not loaded.encoder.layers[0].trainable and loaded.encoder.layers[1].trainable
