import keras
import numpy as np
import pytest

from kformer import Decoder, DecoderLayer, causal_mask, padding_mask
from support import reference
from support.reference import Model, perturbed, weights_of

B, S, T, H, D, F = 2, 7, 5, 3, 15, 11
SOURCE = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)
TARGET = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])  # (B, T)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])


def vectors(length):
    return np.random.normal(size=(B, length, D)).astype("float32")


def masks():
    return causal_mask(T) & padding_mask(TARGET), padding_mask(SOURCE)


@pytest.mark.sample(2)
@norms
@dtypes
def test_a_stack_of_layers_is_the_one_of_the_paper(norm_first, dtype, tolerance):
    decoder = Decoder(2, D, H, F, 0.1, norm_first, name="decoder", dtype=dtype)
    decoder.build()
    perturbed(decoder)
    x, memory = (np.random.normal(size=(B, n, D)) for n in (T, S))
    model = Model(weights_of(decoder), H, num_layers=2, norm_first=norm_first)
    self_mask = np.tril(np.ones((T, T), bool)) & (TARGET[:, None] != 0)
    expected = reference.decoder(x, memory, self_mask, SOURCE[:, None] != 0, model)
    output = decoder(x, memory, *masks())
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


def test_a_layer_returns_its_weights():
    layer, x, memory = DecoderLayer(D, H, F), vectors(T), vectors(S)
    output, own, cross = layer.attend(x, memory, *masks())
    np.testing.assert_array_equal(output, layer(x, memory, *masks()))
    assert output.shape == (B, T, D)
    assert own.shape == (B, H, T, T) and cross.shape == (B, H, T, S)
    np.testing.assert_allclose(np.sum(own, axis=-1), np.ones((B, H, T)), rtol=1e-6)
    np.testing.assert_allclose(np.sum(cross, axis=-1), np.ones((B, H, T)), rtol=1e-6)
    assert not np.triu(own, k=1).any()
    assert not np.array(cross)[0, :, :, 5:].any()


def test_attend_returns_the_output_of_call_and_the_weights_of_every_layer():
    decoder, x, memory = Decoder(3, D, H, F), vectors(T), vectors(S)
    decoder.build()
    output, weights = decoder.attend(x, memory, *masks())
    np.testing.assert_array_equal(output, decoder(x, memory, *masks()))
    assert [w.shape for w in weights.decoder_self] == [(B, H, T, T)] * 3
    assert [w.shape for w in weights.decoder_cross] == [(B, H, T, S)] * 3


def test_padding_in_the_memory_cannot_change_the_output():
    decoder, x, memory = Decoder(2, D, H, F), vectors(T), vectors(S)
    changed = np.where(SOURCE[..., None], memory, np.float32(1e3))
    before, after = decoder(x, memory, *masks()), decoder(x, changed, *masks())
    np.testing.assert_array_equal(before, after)


def changed_at_the_end(x):
    return np.concatenate([x[:, :-1], x[:, -1:] + 1], axis=1)


@pytest.mark.parametrize("cell", ["attention", "ssru"])
@pytest.mark.parametrize("make", [DecoderLayer, lambda *sizes, **cell: Decoder(2, *sizes, **cell)])
def test_no_position_reads_a_later_one_unless_that_is_asked_for(make, cell):
    decoder, x, memory = make(D, H, F, decoder_cell=cell), vectors(T), vectors(S)
    later = changed_at_the_end(x)
    for mask in (None, np.ones((T, T), bool), padding_mask(TARGET)):
        before, after = (np.array(decoder(x, memory, mask)) for x in (x, later))
        np.testing.assert_array_equal(before[:, :-1], after[:, :-1])
    before, after = (np.array(decoder(x, memory, use_causal_mask=False)) for x in (x, later))
    assert np.allclose(before[:, :-1], after[:, :-1]) is (cell == "ssru")


@pytest.mark.parametrize("mask", [None, padding_mask(TARGET), np.ones((B, T, T), bool)])
def test_the_causal_mask_is_added_to_any_other(mask):
    decoder, x, memory = Decoder(2, D, H, F), vectors(T), vectors(S)
    expected = causal_mask(T) if mask is None else causal_mask(T) & padded(mask)
    output, weights = decoder.attend(x, memory, mask)
    alone, weights_alone = decoder.attend(x, memory, expected, use_causal_mask=False)
    np.testing.assert_array_equal(output, alone)
    np.testing.assert_array_equal(weights.decoder_self[1], weights_alone.decoder_self[1])


def padded(mask):
    return mask if len(mask.shape) == 4 else mask[:, None]


def test_a_mask_that_keras_attached_is_causal_too():
    embedding = keras.layers.Embedding(9, D, mask_zero=True)
    decoder, memory = DecoderLayer(D, H, F), vectors(S)
    ids = np.array([[1, 2, 3, 4, 0], [5, 6, 7, 0, 0]])
    later = np.array([[1, 2, 3, 8, 0], [5, 6, 8, 0, 0]])
    before, after = (np.array(decoder(embedding(ids), memory)) for ids in (ids, later))
    np.testing.assert_array_equal(before[:, :2], after[:, :2])
    assert not np.allclose(before[:, 2:], after[:, 2:])
