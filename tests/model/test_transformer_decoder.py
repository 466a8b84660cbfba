"""The decoder alone: the Transformer's equations without a memory."""

import itertools

import keras
import numpy as np
import pytest

from kformer import TransformerDecoder, training
from support.reference import (
    Model,
    encoder_layer,
    layer_norm,
    perturbed,
    positional_encoding,
    weights_of,
)

B, T, V, D, START = 3, 7, 13, 10, 2
SIZES = (V, 2, D, 5, 11)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_its_logits_are_those_of_the_equations(norm_first):
    network = perturbed(TransformerDecoder(*SIZES, norm_first=norm_first, name="network"))
    ids = np.random.randint(START + 1, V, (B, T))
    model = Model(weights_of(network), 5, 2, norm_first)
    table = model.weights["embedding/table"]
    x = table[ids] * D**0.5 + positional_encoding(T, D)
    for i in range(2):
        causal = np.tril(np.ones((T, T), bool))
        x = encoder_layer(x, causal, model, f"encoder/layer_{i}")
    if norm_first:
        norm = {
            f"final/norm/{name}": model.weights[f"encoder/norm/{name}"]
            for name in ("gamma", "beta")
        }
        x = layer_norm(x, model._replace(weights=norm), "final")
    np.testing.assert_allclose(network(ids), x @ table.T, rtol=1e-4, atol=1e-4)


def test_a_position_sees_itself_and_what_is_before_it_alone():
    network = perturbed(TransformerDecoder(*SIZES))
    ids = np.random.randint(START + 1, V, (B, T))
    changed = np.where(np.arange(T) < 4, ids, 0)
    np.testing.assert_allclose(network(ids)[:, :4], network(changed)[:, :4], atol=1e-5)
    vectors, weights = network.attend(ids)
    assert len(weights) == 2 and weights[0].shape == (B, 5, T, T)
    assert not np.triu(weights[1], 1).any()
    np.testing.assert_allclose(network.target_embedding.logits(vectors), network(ids), atol=1e-5)


@pytest.mark.prove
def test_each_text_of_a_row_is_read_as_if_it_were_alone():
    network = perturbed(TransformerDecoder(*SIZES))
    texts = [[7, 5], [START, 4, 8, 6], [START], [START, 9, 12, 3, 4, 7], [0, 0]]
    row = network(np.array([[*itertools.chain(*texts)]]))[0]
    end = 0
    for text in texts[:-1]:
        start, end = end, end + len(text)
        np.testing.assert_allclose(row[start:end], network(np.array([text]))[0], atol=1e-5)


@pytest.mark.prove
def test_it_trains_with_the_objective_of_translators_and_is_saved(tmp_path):
    network = TransformerDecoder(*SIZES, dropout=0.0)
    ids = np.array([[2, 5, 6, 7, 8, 0], [2, 9, 8, 7, 0, 0]])
    following = np.array([[5, 6, 7, 8, 3, 0], [9, 8, 7, 3, 0, 0]])
    metrics = [training.MaskedAccuracy(), training.Perplexity()]
    network.compile(keras.optimizers.Adam(0.01), training.MaskedCrossEntropy(), metrics=metrics)
    history = network.fit(ids, following, epochs=60, verbose=0).history
    assert history["perplexity"][-1] < history["perplexity"][0] / 2
    network.save(tmp_path / "network.keras")
    loaded = keras.saving.load_model(tmp_path / "network.keras")
    np.testing.assert_array_equal(loaded(ids), network(ids))
    np.testing.assert_allclose(network.copy()(ids), network(ids), atol=1e-6)
