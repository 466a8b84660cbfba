"""The parts of a network."""

import keras
import pytest

from kformer import (
    SequenceClassifier,
    Transformer,
    TransformerDecoder,
    TransformerEncoder,
)
from kformer.tasks.parts import parts_of

NETWORKS = {
    "joint": lambda: Transformer(41, 2, 8, 2, 12, norm_first=True, num_decoder_layers=3),
    "own target": lambda: Transformer(41, 1, 8, 2, 12, target_vocab_size=53, decoder_cell="ssru"),
    "classifier": lambda: SequenceClassifier(TransformerEncoder(41, 2, 8, 2, 12), 3),
    "language model": lambda: TransformerDecoder(41, 2, 8, 2, 12),
}


def counted(name):
    network = NETWORKS[name]()
    return network, {part.name: part for part in parts_of(network)}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_the_parts_have_all_parameters(name):
    network, parts = counted(name)
    assert sum(part.parameters for part in parts.values()) == network.count_params()
    assert all(part.bytes == 4 * part.parameters for part in parts.values())


def test_a_part_has_the_parameters_of_its_layers():
    network, parts = counted("joint")
    expected = {
        "encoder, self-attention": [layer.attention for layer in network.encoder.layers],
        "encoder, feed-forward": [layer.feed_forward for layer in network.encoder.layers],
        "decoder, self-attention": [layer.self_attention for layer in network.decoder.layers],
        "decoder, cross-attention": [layer.cross_attention for layer in network.decoder.layers],
        "embedding": [network.source_embedding],
    }
    for part, layers in expected.items():
        assert parts[part].parameters == sum(layer.count_params() for layer in layers)
    assert parts["decoder, cross-attention"].shapes == "12 of 8 x 8"
    assert parts["decoder, feed-forward"].shapes == "3 of 8 x 12, 3 of 12 x 8"
    assert parts["decoder, normalization"].shapes == "20 of 8"  # Three a layer, and a last one.


def test_each_kind_has_names_of_its_own():
    own = {"source embedding", "target embedding", "decoder, SSRU"}
    assert own <= {*counted("own target")[1]}
    assert counted("classifier")[1]["output"].parameters == 8 * 3 + 3
    assert "decoder, self-attention" in counted("language model")[1]
    assert "encoder, self-attention" in counted("classifier")[1]


def test_the_bytes_are_those_of_the_weights():
    encoder = TransformerEncoder(41, 1, 8, 2, 12, dtype=keras.DTypePolicy("bfloat16"))
    assert all(part.bytes == 2 * part.parameters for part in parts_of(encoder))
