"""What users of Keras expect of a model and its layers: `summary`, `export`, dicts, masks."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    MultiHeadAttention,
    PositionalEncoding,
    Transformer,
    causal_mask,
    padding_mask,
)
from support.reference import perturbed

B, S, T, H, D, F, V, L = 2, 7, 5, 3, 18, 11, 13, 2
SOURCE = np.array([[1, 2, 3, 4, 5, 0, 0], [6, 5, 4, 3, 2, 1, 7]])  # (B, S)
TARGET = np.array([[1, 2, 3, 4, 5], [6, 5, 4, 0, 0]])  # (B, T)
NAMED = {"source": SOURCE, "target": TARGET}
CHANNELS = {"num_heads": H, "d_ff": F, "dropout": 0.0}


@pytest.fixture(scope="module")
def transformer():
    model = perturbed(Transformer(V, num_layers=L, d_model=D, **CHANNELS))
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def test_a_summary_has_the_shape_of_every_layer(transformer, capsys):
    lines = []
    transformer.summary(print_fn=lines.append, expand_nested=True)
    summary = "\n".join(lines)
    layers = 5 + 2 * L
    assert summary.count(f"(None, None, {D})") == layers and "?" not in summary


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:The `native_serialization` parameter:DeprecationWarning")
def test_it_is_exported_as_it_is(transformer, tmp_path):
    transformer.export(tmp_path / "model", verbose=False)
    serve = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    ids = {name: tf.constant(rows, tf.int32) for name, rows in NAMED.items()}
    [logits] = serve(**ids).values()
    np.testing.assert_allclose(logits, transformer((SOURCE, TARGET)), atol=1e-4)
    assert transformer.evaluate(NAMED, TARGET, verbose=0) > 0  # It still is what it was.


@pytest.mark.prove
def test_inputs_may_be_a_dict_by_name(transformer):
    expected = np.array(transformer((SOURCE, TARGET)))
    np.testing.assert_array_equal(transformer(NAMED), expected)
    np.testing.assert_allclose(transformer.predict(NAMED, verbose=0), expected, atol=1e-5)
    attention = transformer.attend({"target": TARGET, "source": SOURCE})
    assert attention.decoder_cross[0].shape == (B, H, T, S)

    models = [Transformer(V, num_layers=1, d_model=D, **CHANNELS) for _ in range(2)]
    models[1].set_weights(models[0].get_weights())
    for model, inputs in zip(models, (NAMED, (SOURCE, TARGET)), strict=True):
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(inputs, TARGET, verbose=0)
    for one, other in zip(*(model.get_weights() for model in models), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "by_name", "received"),
    [
        ((SOURCE, TARGET), {}, r"2 positional arguments, and \[\] by name"),
        ((), NAMED, r"0 positional arguments, and \['source', 'target'\] by name"),
        ((SOURCE,), {"target": TARGET}, r"1 positional arguments, and \['target'\] by name"),
    ],
)
def test_two_arguments_instead_of_a_pair_are_an_error(transformer, arguments, by_name, received):
    with pytest.raises(TypeError, match=rf"model\(\(source, target\)\).* Received: {received}"):
        transformer(*arguments, **by_name)


@pytest.mark.parametrize(
    ("inputs", "received"),
    [
        (SOURCE, r"(EagerTensor|ArrayImpl)"),
        ((SOURCE, TARGET, TARGET), "tuple of 3"),
        ({"source": SOURCE, "tgt": TARGET}, r"\['source', 'tgt'\]"),
    ],
)
def test_inputs_that_are_no_pair_are_an_error(transformer, inputs, received):
    with pytest.raises(ValueError, match=f"Received: inputs={received}"):
        transformer(inputs)


@pytest.mark.prove
def test_layers_of_an_encoder_stand_in_a_sequential_model(tmp_path):
    layers = [EncoderLayer(D, H, F) for _ in range(2)]
    model = keras.Sequential([keras.Input((S, D)), *layers, keras.layers.Dense(3)])
    x = np.random.normal(size=(B, S, D)).astype("float32")
    expected = model.layers[-1](layers[1](layers[0](x)))
    np.testing.assert_allclose(model(x), expected, atol=1e-5)
    model.compile("sgd", "mse")
    model.fit(x, np.ones((B, S, 3)), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(x), model(x))


@pytest.mark.sample(4)
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("given", [None, causal_mask(S)], ids=["", "and one that is given"])
@pytest.mark.parametrize("layer_class", [EncoderLayer, Encoder])
def test_the_mask_of_an_embedding_hides_padding(layer_class, given, norm_first):
    size = {"num_layers": L} if layer_class is Encoder else {}
    layer = layer_class(**size, d_model=D, **CHANNELS, norm_first=norm_first)
    vectors = PositionalEncoding()(keras.layers.Embedding(V, D, mask_zero=True)(SOURCE))
    plain = keras.ops.convert_to_numpy(vectors)  # Of these, Keras knows no mask.
    mask = padding_mask(SOURCE) if given is None else padding_mask(SOURCE) & given
    output = layer(vectors, given)
    np.testing.assert_array_equal(output, layer(plain, mask))
    assert np.abs(output - layer(plain, given)).max() > 1e-3
    pooled = keras.layers.GlobalAveragePooling1D()(output)  # Which reads the mask, too.
    np.testing.assert_allclose(pooled[0], np.mean(output[0, :5], axis=0), atol=1e-5)


def test_the_mask_of_an_embedding_reaches_all_layers_of_a_functional_model():
    ids = keras.Input((None,), dtype="int32")
    embedding, encoder = keras.layers.Embedding(V, D, mask_zero=True), Encoder(L, D, **CHANNELS)
    model = keras.Model(ids, encoder(embedding(ids)))
    alone = model(SOURCE[:1, :5])
    np.testing.assert_allclose(model(SOURCE)[:1, :5], alone, atol=1e-5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("layer_class", [DecoderLayer, Decoder])
def test_masks_of_embeddings_hide_the_padding_of_a_decoder(layer_class):
    size = {"num_layers": L} if layer_class is Decoder else {}
    layer = layer_class(**size, d_model=D, **CHANNELS)
    embedding = keras.layers.Embedding(V, D, mask_zero=True)
    x, memory = embedding(TARGET), embedding(SOURCE)
    plain = [keras.ops.convert_to_numpy(vectors) for vectors in (x, memory)]
    masks = causal_mask(T) & padding_mask(TARGET), padding_mask(SOURCE)
    np.testing.assert_array_equal(layer(x, memory, causal_mask(T)), layer(*plain, *masks))


def test_the_mask_of_an_embedding_hides_padding_from_attention():
    layer = MultiHeadAttention(D, H)
    value = keras.layers.Embedding(V, D, mask_zero=True)(SOURCE)
    query = np.random.normal(size=(B, T, D)).astype("float32")
    _, weights = layer(query, value)
    assert not np.array(weights)[0, :, :, 5:].any()
