"""`kformer.load` opens networks and other Keras models, which have no tokenizer."""

import json
import zipfile

import keras
import numpy as np
import pytest

import kformer
from kformer.server import host

V, SIZES = 11, {"num_layers": 1, "d_model": 6, "num_heads": 2, "d_ff": 7}
IDS = np.array([[4, 5, 3]])


@pytest.fixture
def saved(tmp_path):
    """Saves a model, and returns the path of its file."""

    def save(model):
        model.save(tmp_path / "model.keras")
        return tmp_path / "model.keras"

    return save


def changed(path, change):
    """Changes the description of a saved model."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    change(config)
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("network", ["TransformerEncoder", "TransformerDecoder"])
def test_a_network_is_loaded(network, saved):
    model = getattr(kformer, network)(V, **SIZES)
    loaded = kformer.load(saved(model))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded(IDS), model(IDS))


def test_a_functional_model_of_layers_of_keras_and_of_ours_is_loaded(saved):
    ids = keras.Input((None,), dtype="int32")
    vectors = kformer.EncoderLayer(6, 2, 7)(kformer.TokenEmbedding(V, 6)(ids))
    vectors = keras.layers.BatchNormalization()(keras.layers.Dropout(0.1)(vectors))
    model = keras.Model(ids, keras.layers.Dense(2)(vectors))
    model.compile("adam", "mse")
    model.fit(IDS, np.zeros((1, 3, 2)), verbose=0)
    path = saved(model)
    loaded = kformer.load(path)
    np.testing.assert_allclose(loaded(IDS), model(IDS), atol=1e-6)
    assert loaded.optimizer.name.startswith("adam")
    with pytest.raises(ValueError, match=r"a tokenizer.*which holds a Functional"):
        host([path])


def test_what_is_no_model_is_refused(tmp_path):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", '{"a": 1}')
    with pytest.raises(ValueError, match=r"Received: path='.*model\.keras', which holds none"):
        kformer.load(path)


def test_a_class_that_nobody_registered_is_named(saved):
    def rename(config):
        config["class_name"] = config["registered_name"] = "Mine"

    path = changed(saved(kformer.TransformerEncoder(V, **SIZES)), rename)
    with pytest.raises(ValueError, match=r"were registered before.*path='.*Could not locate.*Mine"):
        kformer.load(path)


def test_sizes_that_the_file_does_not_hold_are_refused_before_anything_is_made(saved):
    def enlarge(config):
        config["config"]["vocab_size"] = 10**12

    path = changed(saved(kformer.TransformerEncoder(V, **SIZES)), enlarge)
    with pytest.raises(ValueError, match=r"weights must be as many as the settings say"):
        kformer.load(path)


def test_weights_must_be_numbers(saved):
    model = kformer.TransformerEncoder(V, **SIZES)
    model.weights[0].assign(np.full(model.weights[0].shape, np.nan))
    with pytest.raises(ValueError, match="weights must be finite"):
        kformer.load(saved(model))
