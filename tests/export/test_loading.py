"""`kformer.load` takes every saved form, and what it returns has one interface."""

import numpy as np
import pytest

import kformer
from kformer.export import Verifier, export_saved_model, export_tflite
from kformer.export.loading import saved_form
from kformer.serving import Client
from kformer.training import warm_start
from support import toy
from support.processes import run_python

TEXTS = [*toy.SOURCES[:3], ""]


@pytest.mark.prove
def test_every_form_has_one_interface(toy_model, toy_translator):
    loaded, done = kformer.load(toy_model), []
    assert isinstance(loaded, kformer.SavedTranslator)
    expected = toy_translator.translations(TEXTS)
    texts = [best.text for [best] in expected]
    assert loaded.translate(TEXTS, progress=done.append) == texts
    assert sum(done) == len(TEXTS)
    found = loaded.translations(TEXTS, progress=done.append)
    assert [[(one.text, one.flags) for one in several] for several in found] == [
        [(best.text, best.flags)] for [best] in expected
    ]
    vectors = loaded.encode(TEXTS, progress=done.append)
    np.testing.assert_allclose(vectors, toy_translator.encode(TEXTS), atol=1e-4)
    assert sum(done) == 3 * len(TEXTS)
    assert loaded.encode([]).shape == (0, 32)


def test_a_string_is_translated_to_a_string(toy_model, toy_translator):
    loaded = kformer.load(toy_model)
    [expected] = toy_translator.translate(toy.SOURCES[:1])
    assert loaded.translate(toy.SOURCES[0]) == expected
    assert loaded.translate(toy.SOURCES[0], split=True) == expected


def test_the_client_of_a_server_has_it_too():
    assert isinstance(Client("http://localhost:9"), kformer.SavedTranslator)


def test_a_tflite_file_is_loaded_without_tensorflow(toy_tflite):
    code = (
        "import sys, kformer; kformer.load(sys.argv[1]).translate(sys.argv[2:]);"
        "print({'tensorflow', 'keras'} & {*sys.modules})"
    )
    assert run_python("-c", code, toy_tflite, *TEXTS).stdout.strip() == "set()"


@pytest.mark.parametrize(("form", "name"), [("keras", "Translator"), ("", "ServedTranslator")])
def test_the_others_say_that_they_need_tensorflow(tmp_path, form, name):
    path = tmp_path
    (path / "saved_model.pb").touch()
    if form:
        path = tmp_path / "model.keras"
        path.write_bytes(b"PK")
    missing = "import sys; sys.modules['tensorflow'] = sys.modules['tensorflow_text'] = None; "
    result = run_python("-c", f"{missing}import kformer; kformer.load(sys.argv[1])", path)
    assert f"{name}` needs TensorFlow" in result.stderr.splitlines()[-1]


def test_what_is_no_saved_form_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    with pytest.raises(FileNotFoundError, match=r"no such file or folder.* path='.*notes\.txt'"):
        kformer.load(path)
    path.write_text("a text")
    with pytest.raises(ValueError, match=r"path='.*notes\.txt', which is none of them"):
        kformer.load(path)


@pytest.mark.prove
def test_the_folder_of_a_run_is_its_best_model(toy_keras, toy_translator, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "translator.keras").write_bytes(toy_keras.read_bytes())
    (run / "history.json").write_text("{}")
    expected = toy_translator.translate(TEXTS)
    for load in (kformer.load, kformer.Translator.load):
        assert load(run).translate(TEXTS) == expected


@pytest.mark.parametrize(
    ("names", "held"),
    [
        (["run.json", "history.json"], "which holds no model"),
        (["de-en.tflite", "de-en.keras"], "which holds de-en.keras, de-en.tflite"),
        (["translator.keras", "classifier.keras"], "which holds classifier.keras, translator.ke"),
    ],
)
def test_a_folder_without_one_model_is_refused_without_tensorflow(tmp_path, names, held):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=f"translator.keras, .* Received: path='.*', {held}"):
        saved_form(tmp_path)


def test_what_needs_the_whole_model_refuses_other_forms(toy_tflite, toy_translator, tmp_path):
    pocket = kformer.load(toy_tflite)
    for call in (
        lambda: export_saved_model(pocket, tmp_path / "served"),
        lambda: export_tflite(pocket, tmp_path / "pocket.tflite"),
        lambda: Verifier(pocket, TEXTS),
        lambda: warm_start(pocket, toy_translator),
        lambda: warm_start(toy_translator, pocket),
    ):
        with pytest.raises(TypeError, match=r"only a \.keras file holds\. .*=<kformer\.pocket"):
            call()
