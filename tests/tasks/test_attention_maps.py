"""The attention of each kind of model to one text."""

import numpy as np
import pytest

from kformer import TextEncoder
from kformer.model.transformer import Attention
from kformer.tasks.attention_maps import AttentionMaps
from support import toy

TEXT = toy.SOURCES[0]


def assert_attends(view, kind, pieces, weights, written=None):
    assert (view.kind, view.queries, view.keys) == (kind, written or pieces, pieces)
    np.testing.assert_allclose(view.weights, np.concatenate(weights), atol=1e-6)
    np.testing.assert_allclose(view.weights.sum(axis=-1), 1, atol=1e-5)


def test_a_classifier_and_a_text_encoder_show_their_self_attention(tiny_classifier):
    network, tokenizer = tiny_classifier.classifier.encoder, tiny_classifier.tokenizer
    [row] = np.asarray(tokenizer.encode([TEXT]))
    _, weights = network.attend(row[np.newaxis])
    for model in (tiny_classifier, TextEncoder(tokenizer, network)):
        [view] = model.attend(TEXT).views()
        pieces = ["." if piece == "<0x2E>" else piece for piece in tokenizer.pieces(row)]
        assert_attends(view, "encoder", pieces, weights)


def test_a_language_model_shows_what_each_piece_sees_of_those_before(tiny_language_model):
    model = tiny_language_model
    row = np.array([model.tokenizer.start_id, *np.asarray(model.tokenizer.tokenize(["wir"])[0])])
    _, weights = model.decoder.attend(row[np.newaxis])
    [view] = model.attend("wir").views()
    pieces = model.tokenizer.pieces(row)
    assert_attends(view, "decoder", pieces, weights, written=[*pieces[1:], "</s>"])
    assert not np.triu(view.weights, 1).any()


def test_a_translator_shows_three_kinds(toy_translator):
    maps = toy_translator.attend(TEXT, toy.TARGETS[0])
    views = {view.kind: view for view in maps.views()}
    assert [*views] == ["encoder", "decoder", "cross"]
    for view in views.values():
        assert view.weights.shape == (1, 2, len(view.queries), len(view.keys))
    assert views["cross"].queries == views["decoder"].queries == maps.written
    assert views["decoder"].keys == maps.target == ["<s>", *maps.written[:-1]]
    assert "".join(maps.written[:-1]).replace("▁", " ").strip() == toy.TARGETS[0]
    assert maps.written[-1] == "</s>"
    assert views["cross"].keys == views["encoder"].queries == maps.source
    np.testing.assert_array_equal(views["cross"].weights[0], maps.attention.decoder_cross[0][0])


def test_the_bytes_of_a_character_are_one_piece_with_their_attention():
    """As a key the sum of the weights, so that rows still sum to 1; as a query the mean."""
    source = ["▁a", "<0xD7>", "<0x90>", "<0xD7>", "<0x41>", "<0x0A>", "<0xF0>", "<0x9F>", "<0x98>"]
    source += ["<0x80>", "</s>"]
    shown = ["▁a", "א", "<0xD7>", "A", "<0x0A>", "😀", "</s>"]
    weights = np.random.dirichlet(np.ones(11), (1, 2, 11)).astype("float32")  # (B, H, Q, K)
    [view] = AttentionMaps(source, [], [], Attention((weights,), (), ())).views()
    assert (view.queries, view.keys) == (shown, shown)
    parts = [[0], [1, 2], [3], [4], [5], [6, 7, 8, 9], [10]]
    for i, rows in enumerate(parts):
        for j, columns in enumerate(parts):
            expected = weights[0][:, rows][:, :, columns].sum(axis=2).mean(axis=1)
            np.testing.assert_allclose(view.weights[0, :, i, j], expected, rtol=1e-5)
    np.testing.assert_allclose(view.weights.sum(axis=-1), 1, atol=1e-5)


def test_a_row_is_that_of_the_piece_whose_probability_it_makes(toy_translator):
    [scored] = toy_translator.score([TEXT], [toy.TARGETS[0]])
    assert toy_translator.attend(TEXT, toy.TARGETS[0]).written == [*scored.tokens]


def test_a_text_is_a_string(tiny_classifier):
    with pytest.raises(TypeError, match=r"Received: text=\['a'\]"):
        tiny_classifier.attend(["a"])
