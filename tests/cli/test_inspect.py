"""`kformer inspect`."""

import re
import shutil

import pytest

import kformer
from kformer import TextEncoder, TransformerEncoder


@pytest.fixture
def inspected(command):
    """A function that returns what `inspect` prints."""

    def inspect(path):
        result = command("inspect", path)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    return inspect


def test_a_translator_is_described_with_its_run(inspected, toy_keras, toy_run):
    text = inspected(toy_keras)
    for expected in (
        f"model       translator, {toy_keras}, ",
        "encoder     1 layer of 2 heads; d_model 32, d_ff 64, relu, dropout 0.0, norm",
        "ids         308; padding 0, unknown 1, start 2, end 3",
        "limits      256 ids of a source, 306 of a translation",
        "training    7 epochs of 512 tokens a batch, float32, seed 0",
        f"valid-source: {toy_run.files['valid.de']}",
        "SavedModel  about",
    ):
        assert expected in text
    assert re.search(r"\n +all +31,360 +0\.13\n", text)  # As in the metadata of its .tflite file.
    assert re.search(r"scores      val_loss 0\.\d+, val_accuracy .*, after epoch [1-7]\n", text)


def test_the_head_that_aligns_words_is_named(inspected, toy_keras, tmp_path):
    path = shutil.copy(toy_keras, tmp_path)
    translator = kformer.load(path)
    translator.alignment_head = kformer.AlignmentHead(1, 2)
    translator.save(path)
    text = inspected(path)
    assert "alignment   layer 1, head 2" in text
    assert "training" not in text and "scores" not in text  # There is no run beside it.


def test_a_saved_model_is_described(inspected, toy_served):
    text = inspected(toy_served)
    for expected in (
        f"translator, SavedModel {toy_served / '1'}",
        "search      greedy",
        "256 ids of a text, 306 of an answer, 1,024 texts of a request",
        "signature   beam: text string (B) -> translation string (B, 4), score float32 (B, 4)",
        "checked     16 of 16 texts answered as in Python",
    ):
        assert expected in text


def test_a_tflite_file_is_described(inspected, toy_tflite):
    text = inspected(toy_tflite)
    for expected in (
        f"model       translator, {toy_tflite}, ",
        "languages   de -> en",
        "parameters  31,360",
        "source ids  308; padding 0, unknown 1, end 3",
        "limits      128 ids of a text, 768 bytes of it, 178 ids of an answer",
        "licence     CC0",
        "checked     16 of 16 texts answered as in Python",
    ):
        assert expected in text


def saved(model, folder):
    model.save(folder / "model.keras")
    return folder / "model.keras"


def test_a_classifier_and_a_language_model_are_described(
    inspected, tiny_classifier, tiny_language_model, tmp_path
):
    text = inspected(saved(tiny_classifier, tmp_path))
    assert "labels      bad, sehr gut, so là là" in text
    assert "limits      256 ids of a text" in text and "decoder" not in text
    text = inspected(saved(tiny_language_model, tmp_path))
    assert "limits      24 ids of a prompt and its continuation" in text
    assert "decoder     2 layers of 2 heads" in text and "encoder" not in text


def test_a_text_encoder_has_no_exports(inspected, tokenizer, tmp_path):
    encoder = TextEncoder(tokenizer, TransformerEncoder(400, 1, 16, 2, 24))
    text = inspected(saved(encoder, tmp_path))
    assert "model       text encoder" in text and "about" not in text


def estimates(text):
    """Estimated bytes by form: ".tflite", of float32, and "SavedModel"."""
    found = {
        ".tflite": re.search(r"^\.tflite +about float32 ([\d.]+)", text, re.MULTILINE),
        "SavedModel": re.search(r"^SavedModel +about ([\d.]+)", text, re.MULTILINE),
    }
    return {form: 1e6 * float(match[1]) for form, match in found.items()}


def size(path):
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return sum(one.stat().st_size for one in files)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["translator", "classifier", "language_model"])
def test_the_sizes_of_exports_are_about_right(kind, inspected, request, tmp_path):
    names = {
        "translator": ("toy_keras", "toy_tflite", "toy_saved_model"),
        "classifier": ("tiny_classifier", "classifier_tflite", "classifier_saved_model"),
        "language_model": (
            "tiny_language_model",
            "language_model_tflite",
            "language_model_saved_model",
        ),
    }[kind]
    model, tflite, saved_model = map(request.getfixturevalue, names)
    path = model if kind == "translator" else saved(model, tmp_path)
    found = estimates(inspected(path))
    tflite = tflite if kind == "translator" else tflite()  # LiteRT may greet on stderr.
    assert found == {
        ".tflite": pytest.approx(size(tflite), rel=0.25),
        "SavedModel": pytest.approx(size(saved_model), rel=0.25),
    }


def test_what_is_no_model_is_refused(refused, written):
    assert "which is none of them" in refused("inspect", written("a.keras", b"garbage"))
