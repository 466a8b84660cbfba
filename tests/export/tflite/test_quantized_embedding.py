"""An embedding of 8 bits or 4: what is looked up is what is multiplied with."""

import numpy as np
import pytest

from kformer import TokenEmbedding, Transformer
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from support.reference import perturbed

IDS = np.array([[0, 1, 12, 5], [7, 7, 2, 3]], np.int32)


@pytest.fixture(params=[8, 4], ids=["8 bits", "4 bits"])
def bits(request):
    return request.param


@pytest.fixture(params=[None, 17], ids=["one vocabulary", "two"])
def pair(request, bits):
    """A transformer, and one with rounded embeddings."""
    whole = perturbed(Transformer(13, 1, 8, 2, 16, target_vocab_size=request.param))
    rounded = with_quantized_embeddings(whole, bits=bits)
    return whole, rounded


@pytest.mark.parametrize("side", ["source_embedding", "target_embedding"])
def test_each_row_is_rounded_by_its_own_scale(pair, bits, side):
    before, after = (getattr(transformer, side) for transformer in pair)
    table = before.table.numpy()
    looked_up = after(np.arange(len(table), dtype=np.int32)).numpy() / 8**0.5
    largest = np.abs(table).max(axis=1, keepdims=True)
    # 4 bits are rounded from 8, so twice.
    most, step = {8: (0.5001, largest / 127), 4: (0.5001 + 1 / 32, largest / 7)}[bits]
    assert (np.abs(looked_up - table) <= most * step).all()
    assert (looked_up != table).any()
    steps = looked_up / step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)


@pytest.mark.parametrize("side", ["source_embedding", "target_embedding"])
def test_lookups_have_the_axes_of_the_ids(pair, side):
    embedding = getattr(pair[1], side)
    each = [embedding(row).numpy() for row in IDS.T]
    np.testing.assert_array_equal(embedding(IDS), np.stack(each, axis=1))


def test_rows_of_the_output_are_those_of_its_table(bits):
    whole = perturbed(Transformer(13, 1, 8, 2, 16, tied_output=False))
    rounded = with_quantized_embeddings(whole, bits=bits)
    found = rounded.target_embedding.output_rows(IDS).numpy()
    table = whole.target_embedding.output_table.numpy()
    step = np.abs(table).max(axis=1, keepdims=True) / {8: 127, 4: 7}[bits]
    assert (np.abs(found - table[IDS]) <= 0.54 * step[IDS]).all()


def test_a_shared_embedding_stays_shared(pair):
    whole, rounded = pair
    shared = whole.source_embedding is whole.target_embedding
    assert (rounded.source_embedding is rounded.target_embedding) == shared


def test_all_other_weights_are_shared(pair):
    whole, rounded = pair
    assert rounded.encoder is whole.encoder and rounded.decoder is whole.decoder
    assert [id(weight) for weight in rounded.weights] == [id(weight) for weight in whole.weights]
    assert isinstance(whole.source_embedding, TokenEmbedding)


def test_a_row_of_zeros_stays_zero(bits):
    transformer = Transformer(13, 1, 8, 2, 16)
    table = transformer.source_embedding.table
    table.assign(table.numpy() * (np.arange(13) != 5)[:, None])
    rounded = with_quantized_embeddings(transformer, bits=bits)
    assert (rounded.source_embedding(IDS).numpy()[0, 3] == 0).all()
