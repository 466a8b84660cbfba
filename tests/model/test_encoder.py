import numpy as np
import pytest

from kformer import Encoder, EncoderLayer, padding_mask
from support import reference
from support.reference import Model, perturbed, weights_of

B, S, H, D, F = 2, 7, 3, 15, 11
PADDED = np.array([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])  # (B, S)

norms = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
dtypes = pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])


def vectors(length=S):
    return np.random.normal(size=(B, length, D))


@pytest.mark.sample(2)
@norms
@dtypes
def test_a_stack_of_layers_is_the_one_of_the_paper(norm_first, dtype, tolerance):
    encoder = Encoder(2, D, H, F, 0.1, norm_first, name="encoder", dtype=dtype)
    encoder.build()
    perturbed(encoder)
    x = vectors()
    model = Model(weights_of(encoder), H, num_layers=2, norm_first=norm_first)
    expected = reference.encoder(x, PADDED[:, None] != 0, model)
    output = encoder(x, padding_mask(PADDED))
    np.testing.assert_allclose(output, expected, rtol=tolerance, atol=tolerance)


@norms
def test_a_layer_returns_its_weights(norm_first):
    layer, x, mask = EncoderLayer(D, H, F, norm_first=norm_first), vectors(), padding_mask(PADDED)
    output, weights = layer.attend(x, mask)
    np.testing.assert_array_equal(output, layer(x, mask))
    assert output.shape == (B, S, D) and weights.shape == (B, H, S, S)
    np.testing.assert_allclose(np.sum(weights, axis=-1), np.ones((B, H, S)), rtol=1e-6)
    assert not np.array(weights)[0, :, :, 5:].any()


def test_attend_returns_the_output_of_call_and_the_weights_of_every_layer():
    encoder, x, mask = Encoder(5, D, H, F), vectors(), padding_mask(PADDED)
    encoder.build()
    output, weights = encoder.attend(x, mask)
    np.testing.assert_array_equal(output, encoder(x, mask))
    assert [w.shape for w in weights] == [(B, H, S, S)] * 5


def test_padding_cannot_change_what_stands_before_it():
    encoder, x, mask = Encoder(2, D, H, F), vectors(), padding_mask(PADDED)
    changed = np.where(PADDED[..., None], x, 1e3)
    before, after = np.array(encoder(x, mask)), np.array(encoder(changed, mask))
    np.testing.assert_array_equal(before[PADDED == 1], after[PADDED == 1])


def test_without_positions_the_order_of_the_vectors_does_not_matter():
    encoder, x, order = Encoder(2, D, H, F), vectors(), np.random.permutation(S)
    np.testing.assert_allclose(encoder(x[:, order]), np.array(encoder(x))[:, order], atol=1e-5)


def test_post_norm_ends_normalised_and_pre_norm_has_a_final_norm():
    for norm_first in (False, True):
        output = np.array(Encoder(2, D, H, F, norm_first=norm_first)(10 * vectors()))
        np.testing.assert_allclose(output.mean(axis=-1), np.zeros((B, S)), atol=1e-5)
        np.testing.assert_allclose(output.std(axis=-1), np.ones((B, S)), atol=1e-3)


def test_dropout_is_for_training_only():
    encoder, x = Encoder(2, D, H, F, dropout=0.5), vectors()
    np.testing.assert_array_equal(encoder(x), encoder(x, training=False))
    assert np.abs(encoder(x, training=True) - encoder(x)).max() > 0.1


@pytest.mark.parametrize("num_layers", [0, -1])
def test_there_must_be_a_layer(num_layers):
    with pytest.raises(ValueError, match=f"Received: num_layers={num_layers}"):
        Encoder(num_layers, D, H, F)


@pytest.mark.parametrize("dropout", [-0.1, 1.0])
def test_dropout_is_a_share(dropout):
    with pytest.raises(ValueError, match=f"Received: dropout={dropout}"):
        EncoderLayer(D, H, F, dropout=dropout)


def test_heads_and_inner_width_cannot_be_swapped_unnoticed():
    with pytest.raises(ValueError, match=r"d_model, num_heads, d_ff\. .*num_heads=8, d_ff=2"):
        EncoderLayer(16, 8, 2)
