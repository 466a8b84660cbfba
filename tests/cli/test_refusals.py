"""Models that are none, and output that would destroy something: one line, exit code 2."""

import dataclasses
import json
import shutil
import subprocess
import sys
import zipfile

import keras
import pytest

from kformer.training import Recipe
from kformer.training.run.run_folder import locked
from support import toy

SENTENCE = "der hund ruft uns ."


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x89HDF\r\n\x1a\n"])
def test_a_file_that_is_no_model_is_named(refused, written, content):
    path = written("model.keras", content)
    assert f"Received: path='{path}', which is none of them" in refused("translate", path)


def test_a_zip_file_that_is_no_translator_is_named(refused, written, tmp_path):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "no model")
    assert f"Received: path='{path}', which holds none" in refused("translate", path)


def test_another_keras_model_is_named(refused, tmp_path):
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)]).save(path)
    assert f"Received: path='{path}', which holds none" in refused("translate", path)


def test_a_truncated_keras_file_is_named(refused, toy_keras, written):
    path = written("model.keras", toy_keras.read_bytes()[:-1000])
    assert f"Received: path='{path}'" in refused("translate", path)


def test_a_keras_file_with_damaged_weights_is_named(refused, toy_keras, tmp_path):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(toy_keras) as good, zipfile.ZipFile(path, "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            bad.writestr(name, content[:999] if name.endswith(".h5") else content)
    message = refused("translate", path)
    assert "a whole translator" in message and f"Received: path='{path}'" in message


def test_a_truncated_tflite_file_is_named(refused, toy_tflite, written):
    path = written("alone.tflite", toy_tflite.read_bytes()[:9999])
    assert f"Received: '{path}', without 'alone.tflite.json'" in refused("translate", path)
    written("alone.tflite.json", toy_tflite.with_suffix(".tflite.json").read_bytes())
    assert f"not whole: its end, with the metadata, is missing. Received: '{path}'" in (
        refused("translate", path)
    )


def test_a_foreign_tflite_file_is_named(refused, written):
    path = written("other.tflite", b"\0\0\0\0TFL3")
    assert f"Received: '{path}', without 'other.tflite.json'" in refused("translate", path)


def test_a_folder_that_is_no_model_is_named(refused, tmp_path):
    message = refused("translate", tmp_path)
    assert "saved_model.pb or numbered versions" in message
    assert f"Received: path='{tmp_path}', which holds no model." in message


def test_a_damaged_saved_model_is_named(refused, tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"garbage")
    message = refused("translate", tmp_path)
    assert f"a whole SavedModel. Received: path='{tmp_path / '1'}'" in message


@pytest.mark.parametrize(
    "options",
    [
        ("--beam-size", 1),
        ("--length-penalty", 1),
        ("--sample",),
        ("--max-length-ratio", 2),
        ("--prefix", "file"),
    ],
)
def test_an_export_has_its_search_in_it(refused, toy_served, toy_tflite, options):
    for path in (toy_served, toy_tflite):
        assert f"Received: {options[0]} with '{path}'" in refused("translate", path, *options)


def test_several_translations_are_of_a_tflite_file_and_not_of_a_saved_model(
    refused, command, toy_served, toy_tflite
):
    options = "--n-best", 2, "--format", "tsv"
    assert f"Received: --n-best with '{toy_served}'" in refused("translate", toy_served, *options)
    result = command("translate", toy_tflite, *options, stdin=SENTENCE.encode())
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["1", "1"]


def test_no_beam_is_no_search(refused, toy_keras):
    message = refused("translate", toy_keras, "--beam-size", 0, stdin=SENTENCE.encode())
    assert "beam_size=0" in message
    message = refused("translate", toy_keras, "--beam-size", 2, "--length-penalty", -1, stdin=b"a")
    assert "length_penalty=-1" in message


def test_only_a_keras_file_is_exported_or_shows_attention(refused, toy_tflite, tmp_path):
    message = refused("export", toy_tflite, "--tflite", tmp_path / "x.tflite")
    assert f"exported. Received: '{toy_tflite}', which is none" in message
    message = refused("attention", toy_tflite, SENTENCE, "--output", tmp_path / "x.png")
    assert f"attention. Received: '{toy_tflite}', which is none" in message


def test_a_run_is_not_overwritten_unasked(refused, training, tmp_path):
    record = tmp_path / "run" / "run.json"
    record.parent.mkdir()
    record.write_text('{"finished": true}')
    message = refused(*training)
    assert f"'{tmp_path / 'run'}', which holds a run that is finished." in message
    assert "--overwrite (`overwrite=True`) replaces other runs. Received" in message
    numbers = dataclasses.asdict(Recipe.named("quick", vocab_size=300, dropout=0.25))
    del numbers["byte_spelling"]  # As of a kformer that had none.
    record.write_text(json.dumps({"finished": False, "recipe": numbers}))
    assert refused(*training).endswith(
        "which holds a run with dropout=0.25 instead of 0.0, byte_spelling=None instead of 0.001, "
        "other text in --source and --target and --valid-source and --valid-target."
    )


def test_a_folder_where_another_process_trains_is_left_alone(refused, training, tmp_path):
    (tmp_path / "run").mkdir()
    hold = (
        "import sys; from kformer.training.run.run_folder import locked\nwith locked(sys.argv[1]): "
    )
    hold += "print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, tmp_path / "run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout.readline() == b"held\n"
    assert f"Received: '{tmp_path / 'run'}', where another one trains." in refused(*training)
    holder.kill()
    holder.communicate()
    with locked(tmp_path / "run"):  # The lock ended with the process.
        pass


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_what_is_no_run_is_never_overwritten(refused, training, tmp_path, overwrite):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").touch()
    assert "which holds something else" in refused(*training, *overwrite)


def test_output_that_cannot_be_written_is_named(refused, training, toy_tflite, toy_keras, written):
    blocked = written("file", "kept") / "below"
    for arguments in (
        [*training, "--output", blocked],
        ["translate", toy_tflite, "--output", blocked],
        ["export", toy_keras, "--saved-model", blocked],
        ["attention", toy_keras, SENTENCE, "--output", blocked / "a.png"],
    ):
        assert str(blocked.parent) in refused(*arguments)
    assert blocked.parent.read_text() == "kept"


def test_a_folder_is_no_place_for_a_file(refused, toy_tflite, toy_keras, tmp_path):
    folder = tmp_path / "documents.png"
    folder.mkdir()
    (folder / "thesis").touch()
    assert f"'{folder}'" in refused("translate", toy_tflite, "--output", folder)
    assert f"'{folder}'" in refused("attention", toy_keras, SENTENCE, "--output", folder)


def test_an_export_says_what_it_needs(refused, toy_keras, tmp_path):
    assert "--saved-model DIR, --tflite FILE" in refused("export", toy_keras)
    message = refused("export", toy_keras, "--tflite", tmp_path / "x.bin")
    assert "must end in .tflite" in message and "x.bin" in message
    tflite = ("--tflite", tmp_path / "x.tflite")
    message = refused("export", toy_keras, *tflite, "--max-source-length", 1)
    assert "max_source_length=1" in message
    message = refused("export", toy_keras, *tflite, "--check-reference", toy_keras)
    assert "--check-source, which must be given" in message


def test_an_export_without_validation_files_asks_for_some(refused, toy_keras, tmp_path):
    alone = shutil.copy(toy_keras, tmp_path)
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert "give --check-source" in message and f"'{alone}'" in message
    (tmp_path / "run.json").write_text(
        '{"finished": true, "files": {"valid_source": ["gone.de"], "valid_target": ["gone.en"]}}'
    )
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert "give --check-source" in message and "'gone.de', 'gone.en'" in message


@pytest.mark.parametrize("config", ["{", "[]"])
def test_a_damaged_run_config_is_named(refused, toy_keras, training, tmp_path, config):
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "run.json"
    path.write_text(config)
    alone = shutil.copy(toy_keras, tmp_path / "run")
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert f"as `train` writes it. Received: '{path}' (" in message
    assert f"as `train` writes it. Received: '{path}' (" in refused(*training, "--overwrite")


@pytest.mark.sample(6)
@pytest.mark.parametrize("option, most", [("--layer", 1), ("--head", 2)])
@pytest.mark.parametrize("over", [False, True])
def test_a_layer_or_head_must_exist(refused, toy_keras, tmp_path, option, most, over):
    name, number = option.removeprefix("--"), most + 1 if over else 0
    picture = ("--output", tmp_path / "a.png")
    message = refused("attention", toy_keras, SENTENCE, *picture, option, number)
    assert f"has {name}s 1 to {most}. Received: {name}={number}" in message


def test_a_picture_is_of_some_text_in_some_format(refused, toy_keras, tmp_path):
    assert "text='  '" in refused("attention", toy_keras, "  ", "--output", tmp_path / "a.png")
    message = refused("attention", toy_keras, SENTENCE, "--output", tmp_path / "a.bmp")
    assert ".png" in message and "a.bmp" in message


def test_a_demo_keeps_off_what_is_there(refused, tmp_path):
    (tmp_path / "demo" / "run").mkdir(parents=True)
    (tmp_path / "demo" / "run" / "other").touch()
    message = refused("demo", "--quick", "--output", tmp_path / "demo")
    assert "which holds something else" in message


def test_a_user_who_has_enough_gets_no_traceback(command, monkeypatch, toy_tflite):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kformer.pocket.PocketTranslator.translations", interrupt)
    result = command("translate", toy_tflite, stdin=b"wir")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.prove
def test_errors_come_in_one_line_from_a_process_of_their_own(toy_run, toy_keras, tmp_path):
    """With all that TensorFlow might add on stderr."""
    path = tmp_path / "model.keras"
    path.write_bytes(toy_keras.read_bytes()[:-1000])
    result = toy.run_command("translate", path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("kformer: ") and result.stderr.count("\n") == 1


def test_the_demo_leaves_a_folder_with_other_things_alone(refused, tmp_path):
    for name in ("served/mine", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    for options in ([], ["--overwrite"]):
        assert "which holds 'notes.txt', too." in refused("demo", "--output", tmp_path, *options)
    assert (tmp_path / "served" / "mine").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "served"]
