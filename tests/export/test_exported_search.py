"""Exports search by a model's own defaults: every option, in every form."""

import pytest

import kformer
from kformer import SearchOptions
from kformer.export import Verifier, export_saved_model, export_tflite
from support import toy

TEXTS = [*toy.SOURCES[:6], "", toy.SOURCES[7] * 3]
OWN = {
    "beams": {"beam_size": 3, "length_penalty": 1.0, "length_offset": 0.0, "max_length": 6},
    "narrowing": {"beam_size": 4, "narrowing": True, "max_length_ratio": 0.5, "min_length": 2},
    "constraints": {"repetition_penalty": 1.4, "no_repeat_ngram": 2, "min_length_ratio": 0.4},
    "longer": {"max_length": 90},
}
each = pytest.mark.parametrize("own", OWN.values(), ids=OWN.keys())
pytestmark = pytest.mark.prove


@pytest.fixture
def searching(toy_keras, own):
    translator = kformer.load(toy_keras)
    translator.search_defaults = own
    return translator


@each
@pytest.mark.parametrize("form", ["SavedModel", "tflite"])
def test_every_form_answers_and_flags_as_python_does(searching, own, form, tmp_path):
    if form == "tflite":
        loaded = kformer.load(export_tflite(searching, tmp_path / "a.tflite", batch_size=2))
        kept = loaded.manifest["search"]
    else:
        loaded = kformer.load(export_saved_model(searching, tmp_path / "served"))
        kept = loaded.report["search"]
    assert kept == SearchOptions(**own).changed
    expected = searching.translations(TEXTS, details=False)
    found = loaded.translations(TEXTS)
    assert [best.text for best, *_ in found] == [best.text for best, *_ in expected]
    assert [best.flags for best, *_ in found] == [best.flags for best, *_ in expected]
    report = Verifier(searching, TEXTS).verify(form, loaded, tmp_path)
    assert report.equal == report.total


@pytest.mark.parametrize("own", [dict(OWN["beams"])])
def test_what_an_export_is_told_wins(searching, own, toy_translator, tmp_path):
    pocket = kformer.load(export_tflite(searching, tmp_path / "a.tflite", 1))
    del own["beam_size"]  # As that of every model.
    assert pocket.manifest["search"] == own
    assert pocket.translate(TEXTS) == toy_translator.translate(TEXTS, max_length=6)


@pytest.mark.parametrize("own", [{"sample": True, "top_k": 5}])
def test_an_export_draws_no_samples(searching, own, tmp_path):
    for write in (export_tflite, export_saved_model):
        with pytest.raises(ValueError, match=r"cannot draw samples.* Received: sample=True"):
            write(searching, tmp_path / "a.tflite")
    assert not [*tmp_path.iterdir()]
