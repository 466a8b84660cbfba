import keras
import numpy as np
import pytest

from kformer import PositionalEncoding, TokenEmbedding
from support.backend import PRECISE
from support.reference import positional_encoding


def test_positions_are_the_sines_and_cosines_of_the_paper():
    b, t, d = 2, 7, 22
    encoded = PositionalEncoding()(np.zeros((b, t, d)))
    expected = np.broadcast_to(positional_encoding(t, d), (b, t, d))
    np.testing.assert_allclose(encoded, expected, atol=1e-6)


def test_positions_are_added_to_the_vectors():
    vectors = np.random.normal(size=(2, 5, 6))
    encoded = PositionalEncoding(dtype=PRECISE)(vectors)
    expected = vectors + positional_encoding(5, 6)
    np.testing.assert_allclose(encoded, expected, atol=1e-12 if PRECISE == "float64" else 1e-6)


def test_positions_reach_beyond_any_length_seen():
    layer, far = PositionalEncoding(), 5003
    layer(np.zeros((1, 3, 6)))
    encoded = layer(np.zeros((1, far, 6)))
    np.testing.assert_allclose(encoded[0, -1], positional_encoding(far, 6)[-1], atol=1e-3)


def test_positions_may_be_counted_from_any_number():
    encodings = PositionalEncoding(first_position=2).encodings(5, 22)
    np.testing.assert_allclose(encodings, positional_encoding(5, 22, first=2), atol=1e-6)


def test_with_a_longer_wavelength_positions_are_those_of_fairseq():
    """Its module SinusoidalPositionalEmbedding: sines, then cosines; padding's id is 1."""
    t, d = 7, 22
    frequencies = np.exp(-np.log(10000) / (d // 2 - 1) * np.arange(d // 2))
    angles = np.arange(1 + 1, 1 + 1 + t)[:, None] * frequencies
    encodings = PositionalEncoding(
        first_position=2, max_wavelength=10000 ** (d / (d - 2))
    ).encodings(t, d)
    encodings = keras.ops.convert_to_numpy(encodings)
    np.testing.assert_allclose(encodings[:, ::2], np.sin(angles), atol=1e-6)
    np.testing.assert_allclose(encodings[:, 1::2], np.cos(angles), atol=1e-6)


@pytest.mark.parametrize("setting", [{"first_position": -1}, {"max_wavelength": 0.5}])
def test_positions_that_no_wave_has_are_refused(setting):
    [(name, value)] = setting.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        PositionalEncoding(**setting)


def test_positions_stay_apart_in_bfloat16():
    encoded = PositionalEncoding(dtype="bfloat16")(np.zeros((1, 600, 6)))
    encoded = keras.ops.convert_to_numpy(keras.ops.cast(encoded, "float32"))
    np.testing.assert_allclose(encoded[0], positional_encoding(600, 6), atol=0.01)


def test_an_odd_width_has_a_sine_without_its_cosine():
    with pytest.raises(ValueError, match="Received: d_model=7"):
        PositionalEncoding()(np.zeros((1, 3, 7)))
    with pytest.raises(ValueError, match="Received: d_model=None"):
        PositionalEncoding()(keras.Input((None, None)))


def test_an_embedded_id_is_its_row_times_the_root_of_the_width():
    embedding = TokenEmbedding(vocab_size=13, d_model=7)
    ids = np.array([[3, 12, 0], [5, 5, 1]])
    vectors = embedding(ids)
    np.testing.assert_allclose(vectors, np.array(embedding.table)[ids] * 7**0.5, rtol=1e-6)


def test_embedded_ids_start_with_unit_variance():
    vectors = TokenEmbedding(vocab_size=1009, d_model=61)(np.arange(1009)[None])
    assert np.std(vectors) == pytest.approx(1, abs=0.02)


def test_logits_are_products_with_the_same_table():
    embedding = TokenEmbedding(vocab_size=13, d_model=7)
    embedding.build()
    vectors = np.random.normal(size=(2, 3, 7))
    expected = vectors @ np.array(embedding.table).T
    np.testing.assert_allclose(embedding.logits(vectors), expected, atol=1e-5)


def test_an_output_of_its_own_has_another_table():
    embedding = TokenEmbedding(vocab_size=13, d_model=7, tied_output=False)
    embedding.build()
    tables = [np.array(table) for table in (embedding.table, embedding.output_table)]
    assert np.abs(tables[0] - tables[1]).max() > 0.1
    vectors = np.random.normal(size=(2, 3, 7))
    np.testing.assert_allclose(embedding.logits(vectors), vectors @ tables[1].T, atol=1e-5)
    np.testing.assert_allclose(embedding(np.arange(13)[None])[0], tables[0] * 7**0.5, atol=1e-5)


@pytest.mark.parametrize("name", ["vocab_size", "d_model"])
def test_sizes_must_be_positive(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1. Received: {name}=-1"):
        TokenEmbedding(**{"vocab_size": 5, "d_model": 7, name: -1})


def test_an_output_bias_is_added_to_the_logits():
    embedding = TokenEmbedding(vocab_size=13, d_model=7, output_bias=True)
    embedding.build()
    bias = np.random.normal(size=13)
    embedding.bias.assign(bias)
    vectors = np.random.normal(size=(2, 3, 7))
    expected = vectors @ np.array(embedding.table).T + bias
    np.testing.assert_allclose(embedding.logits(vectors), expected, atol=1e-5)


@pytest.mark.parametrize(("sizes", "shown"), [((50, 16), "50, 16"), ((16,), "16")])
def test_positions_take_neither_a_number_of_positions_nor_a_width(sizes, shown):
    rule = r"takes neither: PositionalEncoding\(\)\. .* by name\. "
    with pytest.raises(TypeError, match=rf"{rule}Received: PositionalEncoding\({shown}\)"):
        PositionalEncoding(*sizes)
