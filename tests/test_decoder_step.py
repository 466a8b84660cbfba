"""One position at a time, for beams side by side: the same as whole sequences, each its own."""

import keras
import numpy as np
import pytest
from reference import perturbed

from kformer import Decoder, causal_mask, padding_mask
from kformer.decoder_step import DecoderStep, write_by_select, write_by_slice

B, S, T, H, D, F, K = 2, 7, 5, 3, 15, 11, 4
SOURCE = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
writers = pytest.mark.parametrize("write", [write_by_select, write_by_slice])


def vectors(*shape):
    return np.random.normal(size=(*shape, D)).astype("float32")


def new_decoder(norm_first=False, **kwargs):
    decoder = Decoder(2, D, H, F, norm_first=norm_first, **kwargs)
    decoder.build()
    return perturbed(decoder)


def run(step, x, parents, slots):
    """Steps through `x` (B, K, T, D), where `parents` (T, K) says which beam each continues.

    Returns the outputs and attentions of each position, and which slots each beam saw last.
    """
    history = step.empty_history(B, slots)
    own = np.zeros((K, slots), bool)
    results = []
    for position in range(x.shape[2]):
        own = own[parents[position]]
        own[np.arange(K), position * K + np.arange(K)] = True
        output, history, attention = step(x[:, :, position], position, own[None], history)
        results.append((output, attention))
    return results


@norms
@writers
def test_beams_side_by_side_are_whole_sequences_each(norm_first, write):
    decoder = new_decoder(norm_first)
    x, memory, mask = vectors(B, K, T), vectors(B, S), padding_mask(SOURCE)
    parents = np.tile(np.arange(K), (T, 1))
    results = run(DecoderStep(decoder, memory, mask, write), x, parents, (T + 2) * K)
    for beam in range(K):
        whole, weights = decoder.attend(x[:, beam], memory, causal_mask(T), mask)
        expected = np.mean(weights.decoder_cross[-1], axis=1)  # (B, T, S)
        for position, (output, attention) in enumerate(results):
            np.testing.assert_allclose(output[:, beam], whole[:, position], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(attention[:, beam], expected[:, position], atol=1e-6)


def test_a_beam_sees_the_past_of_those_it_descends_from():
    decoder = new_decoder()
    x, memory, mask = vectors(B, K, T), vectors(B, S), padding_mask(SOURCE)
    parents = np.random.randint(0, K, (T, K))
    results = run(DecoderStep(decoder, memory, mask), x, parents, T * K)
    for beam in range(K):
        line = [beam]  # Of ancestors, from the last position to the first.
        for position in range(T - 1, 0, -1):
            line.append(parents[position][line[-1]])
        path = np.stack([x[:, k, t] for t, k in enumerate(reversed(line))], axis=1)
        whole = decoder(path, memory, causal_mask(T), mask)
        np.testing.assert_allclose(results[-1][0][:, beam], whole[:, -1], rtol=1e-4, atol=1e-5)


def test_what_is_in_slots_not_seen_does_not_matter():
    step = DecoderStep(new_decoder(), vectors(B, S), padding_mask(SOURCE))
    history = step.empty_history(B, T)
    filled = keras.tree.map_structure(lambda x: x + 1e3, history)
    seen = (np.arange(T) == 2)[None, None]
    x = vectors(B, 1)
    np.testing.assert_array_equal(step(x, 2, seen, history)[0], step(x, 2, seen, filled)[0])


def test_an_empty_history_has_room_for_every_layer_and_slot():
    decoder = Decoder(3, D, H, F, dtype="mixed_bfloat16")
    decoder.build()
    history = DecoderStep(decoder, vectors(B, S), padding_mask(SOURCE)).empty_history(B, T)
    assert [tuple(keys.shape) for keys, _ in history] == [(B, H, T, D // H)] * 3
    assert all(values.dtype == "bfloat16" for _, values in history)


@writers
@pytest.mark.parametrize("beams", [1, 3])
def test_rows_are_written_at_their_slots_and_nowhere_else(write, beams):
    buffer = np.random.normal(size=(B, H, 4 * beams, D)).astype("float32")
    rows = np.random.normal(size=(B, H, beams, D)).astype("float32")
    expected = buffer.copy()
    expected[:, :, 2 * beams : 3 * beams] = rows
    got = write(keras.ops.array(buffer), keras.ops.array(rows), 2 * beams)
    np.testing.assert_array_equal(got, expected)
