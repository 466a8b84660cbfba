"""Models other than the paper's go through every saved form: activations, decoders."""

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
    "swish": {"activation": "swish", "num_decoder_layers": 3, "decoder_cell": "ssru"},
}


@pytest.mark.pairs
@pytest.mark.sample(8)
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("form", ["keras", "saved_model", "tflite", "tflite int8"])
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_form_says_what_the_layers_say(tokenizer, tmp_path, settings, form, beam_size):
    transformer = perturbed(Transformer(400, 2, 32, 2, 48, **settings))
    translator = Translator(tokenizer, transformer, max_source_length=toy.SHORT)
    expected, config = translator.translate(TEXTS, beam_size=beam_size), transformer.get_config()
    path = tmp_path / "model"
    if form == "keras":
        path = path.with_suffix(".keras")
        translator.save(path)
        assert kformer.load(path).transformer.get_config() == config
        assert settings.items() <= config.items()
        assert kformer.load(path).translate(TEXTS, beam_size=beam_size) == expected
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
        names = ("activation", "num_decoder_layers", "decoder_cell")
        assert {n: exported.manifest[n] for n in names} == {n: config[n] for n in names}
        assert len(exported.translate(TEXTS)) == len(TEXTS)
        np.testing.assert_allclose(vectors, of_python, atol=0.3 * np.abs(of_python).max())
    else:
        assert exported.translate(TEXTS) == expected
        np.testing.assert_allclose(vectors, of_python, atol=1e-4)
    assert len({*expected}) > len(TEXTS) / 2
