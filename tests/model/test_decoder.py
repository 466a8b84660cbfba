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
