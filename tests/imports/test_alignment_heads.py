"""The attention by which the original aligns words is the translator's `alignment_head`."""

import keras
import numpy as np
import pytest

import kformer
from kformer.imports.assembly import head_of
from support.pretrained import fairseq, marian
from support.pretrained.marian_npz import write_npz_folder

WORDS = marian.vocabulary()
LAYERS = {"num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
TEXTS = ["der hund schläft .", "ein haus und ein hund"]


@pytest.fixture(scope="module")
def network():
    keras.utils.set_random_seed(1)
    return marian.transformer(WORDS.pieces, num_decoder_layers=3)


@pytest.mark.parametrize(
    ("layer", "heads", "expected"),
    [(-1, 1, (3, 1)), (0, 1, (1, 1)), (2, 0, (3, None)), (1, 2, (2, None)), (3, 1, None)],
)
def test_a_layer_counts_from_either_end(layer, heads, expected):
    assert head_of(layer, heads, LAYERS) == expected


@pytest.mark.parametrize(("setting", "expected"), [("last", (3, 1)), ("2", (2, 1))])
def test_marian_aligns_by_the_first_head_of_a_layer(setting, expected, network, tmp_path):
    changes = {"transformer-guided-alignment-layer": setting}
    found = kformer.from_marian(write_npz_folder(tmp_path / "a", WORDS, network, changes))
    assert found.alignment_head == expected
    pair = TEXTS[:1], ["the dog"]
    [chosen], [same] = found.align(*pair), found.align(*pair, head=expected)
    np.testing.assert_array_equal(chosen.weights, same.weights)
    found.save(tmp_path / "a.keras")
    assert kformer.load(tmp_path / "a.keras").alignment_head == expected


def test_a_layer_that_is_not_named_is_not_guessed(network, tmp_path):
    changes = {"transformer-guided-alignment-layer": "none"}
    found = kformer.from_marian(write_npz_folder(tmp_path / "a", WORDS, network, changes))
    assert found.alignment_head is None


def test_fairseq_names_a_layer_and_a_number_of_heads(tmp_path):
    pieces = fairseq.pieces()
    network = fairseq.transformer(pieces, num_decoder_layers=2)
    trained = {"alignment_layer": 0, "alignment_heads": 1}
    one = fairseq.write_folder(tmp_path / "a", network, pieces, **trained)
    assert kformer.from_fairseq(one).alignment_head == (1, 1)
    assert (
        kformer.from_fairseq(fairseq.write_folder(tmp_path / "b", network, pieces)).alignment_head
        is None
    )


@pytest.mark.parametrize("head", [None, (2, 3)])
def test_a_folder_for_ctranslate2_keeps_head_search_and_facts(head, network, tmp_path):
    pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
    from kformer.export import export_ctranslate2

    original = kformer.from_marian(marian.write_folder(tmp_path / "a", WORDS, network))
    original.alignment_head = head and kformer.AlignmentHead(*head)
    original.search_defaults = {"beam_size": 3, "max_length_ratio": 3.0}
    original.about |= {"licence": "CC0-1.0"}
    back = kformer.from_ctranslate2(export_ctranslate2(original, tmp_path / "b"))
    assert back.alignment_head == (head or (3, None))  # The mean of the last layer, by name.
    assert back.search_defaults == original.search_defaults
    assert back.about["licence"] == "CC0-1.0"
    assert back.max_source_length == original.max_source_length
    assert back.translate(TEXTS) == original.translate(TEXTS)
    weights = [each.align(TEXTS, ["the dog", "a house"])[0].weights for each in (original, back)]
    np.testing.assert_allclose(*weights, atol=1e-5)
