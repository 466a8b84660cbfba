"""Models other than the paper's go through every saved form: activations, few decoder layers."""

import numpy as np
import pytest

import kformer
from kformer import Transformer, Translator
from kformer.export import export_saved_model, export_tflite
from support import toy
from support.reference import perturbed

TEXTS = [*toy.SOURCES[:12], "", "wir"]
VARIANTS = {
    "gelu": {"activation": "gelu", "num_decoder_layers": 1, "norm_first": True},
    "swish": {"activation": "swish", "num_decoder_layers": 3},
}


@pytest.mark.sample(16)
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("form", ["keras", "saved_model", "tflite", "tflite int8"])
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_form_says_what_the_layers_say(tokenizer, tmp_path, settings, form, beam_size):
    transformer = perturbed(Transformer(400, 2, 32, 2, 48, **settings))
    translator = Translator(tokenizer, transformer, max_source_length=toy.SHORT)
    expected = translator.translate(TEXTS, beam_size)
    path = tmp_path / "model"
    if form == "keras":
        path = path.with_suffix(".keras")
        translator.save(path)
        config = kformer.load(path).transformer.get_config()
        assert config == transformer.get_config() and settings.items() <= config.items()
        assert kformer.load(path).translate(TEXTS, beam_size) == expected
        return
    if form == "saved_model":
        export_saved_model(translator, path, beam_size)
    else:
        path = path.with_suffix(".tflite")
        precision = form.removeprefix("tflite").strip() or "float32"
        export_tflite(translator, path, beam_size, precision=precision)
    exported = kformer.load(path)
    vectors, of_python = exported.encode(TEXTS), translator.encode(TEXTS)
    if form == "tflite int8":  # Random weights say something else as soon as they are rounded.
        assert exported.manifest["activation"] == settings["activation"]
        assert exported.manifest["num_decoder_layers"] == settings["num_decoder_layers"]
        assert len(exported.translate(TEXTS)) == len(TEXTS)
        np.testing.assert_allclose(vectors, of_python, atol=0.3 * np.abs(of_python).max())
    else:
        assert exported.translate(TEXTS) == expected
        np.testing.assert_allclose(vectors, of_python, atol=1e-4)
    assert len({*expected}) > len(TEXTS) / 2
