import numpy as np
import pytest
import reference
from reference import Model, perturbed, weights_of

from kformer import Decoder, DecoderLayer, causal_mask, padding_mask
from kformer.attention import KeysValues, write_by_select, write_by_slice

B, S, T, H, D, F = 2, 7, 5, 3, 15, 11
SOURCE = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)
TARGET = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])  # (B, T)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
writers = pytest.mark.parametrize("write", [write_by_select, write_by_slice])


def vectors(length):
    return np.random.normal(size=(B, length, D)).astype("float32")


def masks():
    return causal_mask(T) & padding_mask(TARGET), padding_mask(SOURCE)


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
    output, own, cross = DecoderLayer(D, H, F)(vectors(T), vectors(S), *masks())
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


@norms
@writers
def test_one_position_at_a_time_is_the_whole_sequence(norm_first, write):
    decoder = Decoder(2, D, H, F, norm_first=norm_first)
    decoder.build()
    perturbed(decoder)
    x, memory, memory_mask = vectors(T), vectors(S), padding_mask(SOURCE)
    whole, weights = decoder.attend(x, memory, causal_mask(T), memory_mask)
    history, seen = decoder.empty_history(B, T + 2), decoder.project(memory)
    for position in range(T):
        output, history, cross = decoder.step(
            x[:, position : position + 1], position, history, seen, memory_mask, write
        )
        np.testing.assert_allclose(output[:, 0], whole[:, position], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(
            cross[:, :, 0], weights.decoder_cross[-1][:, :, position], atol=1e-6
        )


def test_a_step_does_not_read_what_comes_later_in_the_history():
    layer = DecoderLayer(D, H, F)
    layer.build()
    x, memory = vectors(1), layer.cross_attention.project(vectors(S))
    past = np.random.normal(size=(B, H, T, D // H)).astype("float32")
    later = np.where(np.arange(T)[:, None] > 2, np.float32(1e3), past)
    output, _, _ = layer.step(x, 2, KeysValues(past, past), memory)
    also, _, _ = layer.step(x, 2, KeysValues(later, later), memory)
    np.testing.assert_array_equal(output, also)


def test_an_empty_history_has_room_for_every_layer_and_step():
    history = Decoder(3, D, H, F, dtype="mixed_bfloat16").empty_history(B, T)
    assert [tuple(keys.shape) for keys, _ in history] == [(B, H, T, D // H)] * 3
    assert all(values.dtype == "bfloat16" for _, values in history)
