"""`kformer attention --html`, and the attention of other models than translators."""

import json
import re

import numpy as np
import pytest
from matplotlib import font_manager

from kformer import Transformer, Translation, Translator
from kformer.cli.attention_command import draw
from kformer.tasks.attention_maps import View

SENTENCE = "der hund ruft uns ."


def data_of(page):
    """The data in a page."""
    text = page.read_text("utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])


def saved(model, folder):
    model.save(folder / "model.keras")
    return folder / "model.keras"


def test_a_page_has_all_attention_of_a_translator(command, toy_keras, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "a.svg"
    result = command("attention", toy_keras, SENTENCE, "--html", page, "--output", picture)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"The picture is {picture}\nThe page is {page}\n"
    views = data_of(page)
    assert [view["kind"] for view in views] == ["encoder", "decoder", "cross"]
    assert all((view["layers"], view["heads"]) == (1, 2) for view in views)
    assert f"<title>{SENTENCE}</title>" in page.read_text("utf-8")
    assert "http" not in page.read_text("utf-8")  # It fetches nothing.
    assert "no self-attention" not in page.read_text("utf-8")


@pytest.mark.prove
def test_a_classifier_and_a_language_model_have_a_page_and_a_picture(
    command, tiny_classifier, tiny_language_model, tmp_path
):
    page, picture = tmp_path / "page.html", tmp_path / "a.png"
    for model, kind in ((tiny_classifier, "encoder"), (tiny_language_model, "decoder")):
        path = saved(model, tmp_path)
        result = command("attention", path, "wir", "--html", page, "--output", picture)
        assert (result.returncode, result.stderr) == (0, "")
        assert [view["kind"] for view in data_of(page)] == [kind]
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()


@pytest.mark.prove
@pytest.mark.parametrize(
    ("chosen", "title", "maps"),
    [
        ({"layer": 1, "head": 2}, "cross attention, layer 1, head 2", [""]),
        ({"head": 2}, "cross attention, layer 1, head 2", [""]),
        ({"kind": "decoder"}, "decoder attention, layer 1", ["layer 1, head 1", "layer 1, head 2"]),
    ],
)
def test_the_title_has_the_layer_and_the_head_below_the_text(toy_translator, chosen, title, maps):
    figure = draw(toy_translator.attend(SENTENCE).views(), SENTENCE, **chosen)
    assert figure.get_suptitle() == f"{SENTENCE}\n{title}"
    assert [ax.get_title() for ax in figure.axes[:-1]] == maps
    assert figure.axes[0].get_ylabel() == "piece that is written"


@pytest.mark.parametrize(
    ("chosen", "title"),
    [
        ({}, "encoder attention, mean of 2 layers, mean of 3 heads"),
        ({"layer": 2}, "encoder attention, layer 2, mean of 3 heads"),
        ({"layer": 2, "head": 3}, "encoder attention, layer 2, head 3"),
    ],
)
def test_a_long_text_is_one_map_with_labels_that_can_be_read(chosen, title):
    pieces = [f"▁{i}" for i in range(60)]
    weights = np.random.uniform(size=(2, 3, 60, 60))
    figure = draw([View("encoder", pieces, pieces, weights)], "a b", **chosen)
    assert figure.get_suptitle() == f"a b\n{title}"
    attention, _ = figure.axes
    layers = [chosen["layer"] - 1] if "layer" in chosen else [0, 1]
    heads = [chosen["head"] - 1] if "head" in chosen else [0, 1, 2]
    expected = weights[np.ix_(layers, heads)].mean(axis=(0, 1))
    np.testing.assert_allclose(attention.images[0].get_array(), expected)
    labels = attention.xaxis.get_ticklabels()
    assert len(labels) == 60 and labels[0].get_fontsize() * 150 / 72 >= 16  # Pixels.


def test_a_doubtful_translation_is_flagged(command, toy_keras, tmp_path, monkeypatch):
    answers = [[Translation("der", -1.0, ("length ratio",), ("▁der",), ("▁a",))]]
    monkeypatch.setattr(Translator, "translations", lambda *_, **__: answers)
    result = command("attention", toy_keras, SENTENCE, "--html", tmp_path / "a.html")
    assert result.returncode == 0
    assert "its translation has a length that is absurd for its source" in result.stderr
    _, decoder, _ = data_of(tmp_path / "a.html")
    assert "".join(decoder["queries"]) == "▁der</s>"


def test_a_kind_that_the_model_does_not_have_is_refused(refused, tiny_classifier, tmp_path):
    path = saved(tiny_classifier, tmp_path)
    line = refused("attention", path, "wir", "--output", tmp_path / "a.png", "--kind", "cross")
    assert "attention of the kind encoder. Received: kind=cross" in line


def test_a_recurrent_decoder_has_no_self_attention_to_show(command, refused, tokenizer, tmp_path):
    network = Transformer(tokenizer.vocab_size, 1, 16, 2, 24, decoder_cell="ssru")
    path, page = saved(Translator(tokenizer, network), tmp_path), tmp_path / "page.html"
    assert command("attention", path, "wir", "--html", page).returncode == 0
    assert [view["kind"] for view in data_of(page)] == ["encoder", "cross"]
    assert "The decoder has no self-attention to show" in page.read_text("utf-8")
    line = refused("attention", path, "wir", "--output", tmp_path / "a.png", "--kind", "decoder")
    assert "an SSRU instead of the decoder's self-attention. Received: kind=decoder" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Received: neither"),
        (["--html", "a.txt"], "Received: html='a.txt'"),
        (["--html", "a.html", "--layer", 1], "Received: layer=1 without --output"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused(refused, toy_keras, options, message):
    assert message in refused("attention", toy_keras, SENTENCE, *options)


@pytest.mark.prove
def test_a_script_without_a_font_is_named_with_what_helps(
    refused, toy_keras, tmp_path, monkeypatch
):
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])  # None but matplotlib's own.
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    picture = tmp_path / "a.png"
    line = refused("attention", toy_keras, f"{SENTENCE} \U00013000", "--output", picture)
    assert "--html" in line and "U+13000" in line
