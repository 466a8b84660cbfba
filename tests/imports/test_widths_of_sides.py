"""Encoder and decoder may have feed-forward networks of different widths, in all imports."""

import numpy as np
import pytest

import kformer
from support.pretrained import ctranslate2, fairseq, marian
from support.pretrained.marian_npz import write_npz_folder

WORDS = marian.vocabulary()


def of_transformers(folder, **widths):
    network = marian.transformer(WORDS.pieces, **widths)
    return network, kformer.from_marian(marian.write_folder(folder / "hub", WORDS, network))


def of_marian(folder, **widths):
    network = marian.transformer(WORDS.pieces, **widths)
    return network, kformer.from_marian(write_npz_folder(folder / "npz", WORDS, network))


def of_ctranslate2(folder, **widths):
    network, translator = of_transformers(folder, **widths)
    return network, kformer.from_ctranslate2(ctranslate2.write_folder(translator, folder / "ct2"))


def of_fairseq(folder, **widths):
    pieces = fairseq.pieces()
    network = fairseq.transformer(pieces, **widths)
    return network, kformer.from_fairseq(fairseq.write_folder(folder / "run", network, pieces))


@pytest.mark.sample(3)
@pytest.mark.parametrize("read", [of_transformers, of_marian, of_ctranslate2, of_fairseq])
@pytest.mark.parametrize("widths", [(48, 40), (24, 30)])  # Over the width of vectors, and under.
def test_each_side_has_its_width(read, widths, tmp_path):
    network, translator = read(tmp_path, d_ff=widths[0], decoder_d_ff=widths[1])
    found = translator.transformer
    assert (found.encoder.d_ff, found.decoder.d_ff) == widths
    pair = np.array([[7, 9, 30, 5]]), np.array([[network.padding_id, 12, 9]])
    expected, logits = (np.array(model(pair)) for model in (network, found))
    logits = logits[..., : expected.shape[-1]]
    padding = np.arange(expected.shape[-1]) == network.padding_id  # It is never chosen.
    np.testing.assert_allclose(logits[..., ~padding], expected[..., ~padding], atol=1e-3)
