"""What the user can mend: one line on stderr that says what to do, exit code 2, nothing written."""

import gzip
import re
import shutil
import zipfile

import keras
import pytest
import toy

SENTENCE = "der hund ruft uns ."


@pytest.fixture
def refused(command, tmp_path):
    """A function that runs a command, which must fail as it should, and returns its one line."""

    def run(*arguments, stdin=b""):
        before = sorted(tmp_path.rglob("*"))
        result = command(*arguments, stdin=stdin)
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("kformer: ")
        assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
        assert sorted(tmp_path.rglob("*")) == before
        return result.stderr.removesuffix("\n")

    return run


@pytest.fixture
def text(tmp_path):
    """A function that writes a text file and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def training(toy_run, tmp_path):
    """The arguments of a run that would be in order."""
    files = toy_run.files
    return [
        *("train", "--source", files["train.de"], "--target", files["train.en"]),
        *("--output", tmp_path / "run", "--recipe", "quick", "--vocab-size", 300),
    ]


@pytest.fixture
def translator(toy_run):
    return toy_run.folder / "translator.keras"


@pytest.fixture
def pocket(toy_run, toy_exports):
    return toy_run.folder.parent / "toy.tflite"


# Options


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["trian"], "No such command 'trian'"),
        (["--verbose"], "No such option: --verbose"),
        (["translate"], "Missing argument 'model'"),
        (["translate", "model", "--beams", "3"], "No such option: --beams"),
        (
            ["translate", "model", "--beam-size", "x"],
            "'--beam-size': Input should be a valid int",
        ),
        (["train", "--source", "a", "--target", "b"], "Missing option '--output'"),
        (["attention", "model", "text", "--output", "a.png", "--kind", "self"], "'self' is not"),
        (["translate", "model", "more"], "unexpected extra argument(s) (more)"),
    ],
)
def test_wrong_options_are_named(refused, arguments, message):
    assert message in refused(*arguments)


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--epochs", -1, "`epochs` must be positive. Received: epochs=-1."),
        ("--epochs", 0, "`epochs` must be positive. Received: epochs=0."),
        ("--num-layers", 0, "Received: num_layers=0."),
        ("--num-heads", 0, "Received: num_heads=0."),
        ("--d-ff", -5, "Received: d_ff=-5."),
        ("--warmup-steps", 0, "Received: warmup_steps=0."),
        ("--vocab-size", 0, "Received: vocab_size=0."),
        ("--dropout", 1.5, "`dropout` must be in [0, 1). Received: dropout=1.5."),
        ("--label-smoothing", 1, "Received: label_smoothing=1.0."),
        ("--d-model", 63, "Received: d_model=63, num_heads=2."),
        ("--num-heads", 3, "Received: d_model=64, num_heads=3."),
        ("--max-length", 1, "Received: max_length=1, tokens_per_batch=1024."),
        ("--tokens-per-batch", 63, "Received: max_length=64, tokens_per_batch=63."),
        ("--seed", -1, "Received: seed=-1."),
        ("--recipe", "huge", "must be one of base, demo, quick, tiny. Received: recipe='huge'."),
        ("--vocab-size", 3, "`vocab_size` must be over 260: "),
        ("--vocab-size", 270, "`vocab_size` must be at least 2"),
        ("--vocab-size", 9000, "`vocab_size` must be at most 3"),
    ],
)
def test_numbers_must_make_sense(refused, training, option, value, message):
    assert message in refused(*training, option, value)


def test_the_advice_on_what_would_fit_is_good(refused, training):
    message = refused(*training, "--vocab-size", 9000)
    fits = int(re.search(r"at most (\d+), which is what this text supports", message)[1])
    assert fits >= toy.RECIPE["--vocab-size"]
    assert f"at most {fits}," in refused(*training, "--vocab-size", fits + 1)


# Text


def test_a_missing_file_is_named(refused, training, translator, tmp_path):
    missing = tmp_path / "missing"
    for arguments in (
        [*training, "--source", missing, "--target", missing],
        [*training, "--valid-source", missing, "--valid-target", missing],
        ["translate", translator, "--input", missing],
        ["evaluate", translator, "--source", missing, "--reference", missing],
        ["export", translator, "--tflite", tmp_path / "x.tflite", "--check-source", missing],
        ["translate", missing],
    ):
        assert f"'{missing}'" in refused(*arguments)


def test_files_of_different_length_are_named_with_both_counts(
    refused, toy_run, translator, text, tmp_path
):
    two, three = text("two", "a\nb\n"), text("three", "a\nb\nc")
    counts = f"Received: 2 in '{two}', 3 in '{three}'."
    train = ["train", "--output", tmp_path / "run"]
    files = toy_run.files
    for arguments in (
        [*train, "--source", two, "--target", three],
        [
            *(*train, "--source", files["train.de"], "--target", files["train.en"]),
            *("--valid-source", two, "--valid-target", three),
        ],
        ["evaluate", translator, "--source", two, "--reference", three],
        [
            *("export", translator, "--saved-model", tmp_path / "served"),
            *("--check-source", two, "--check-reference", three),
        ],
    ):
        assert counts in refused(*arguments)


def test_an_empty_file_is_named(refused, translator, text, tmp_path):
    empty = text("empty", "")
    for arguments in (
        ["train", "--output", tmp_path / "run", "--source", empty, "--target", empty],
        ["translate", translator, "--input", empty],
        ["evaluate", translator, "--source", empty, "--reference", empty],
        ["export", translator, "--tflite", tmp_path / "x.tflite", "--check-source", empty],
    ):
        assert f"must not be empty. Received: '{empty}'" in refused(*arguments)


def test_text_that_is_not_utf_8_is_named_with_its_line(refused, translator, text, tmp_path):
    latin = text("latin", "ja\nnein\nschön\n".encode("latin-1"))
    for arguments in (
        ["train", "--output", tmp_path / "run", "--source", latin, "--target", latin],
        ["translate", translator, "--input", latin, "--output", tmp_path / "out"],
        ["evaluate", translator, "--source", latin, "--reference", latin],
    ):
        assert f"must be UTF-8. Received: '{latin}', where line 3" in refused(*arguments)


def test_input_that_is_not_utf_8_is_named_with_its_line(refused, pocket, tmp_path):
    output = ("--output", tmp_path / "out")
    message = refused("translate", pocket, *output, stdin=b"ja\nsch\xf6n\n")
    assert "must be UTF-8. Received: stdin, where line 2" in message


@pytest.mark.parametrize("whole", [True, False])
def test_a_gz_file_that_is_none_is_named(refused, pocket, text, whole):
    path = text("text.gz", b"no gzip" if whole else gzip.compress(b"text" * 99)[:-9])
    assert f"must be gzip. Received: '{path}'" in refused("translate", pocket, "--input", path)


def test_validation_needs_both_sides(refused, training, toy_run):
    message = refused(*training, "--valid-source", toy_run.files["valid.de"])
    assert "1 source and 0 target files" in message


# Models


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x89HDF\r\n\x1a\n"])
def test_a_file_that_is_no_model_is_named(refused, text, content):
    path = text("model.keras", content)
    assert f"Received: '{path}', which is none of them" in refused("translate", path)


def test_a_zip_file_that_is_no_translator_is_named(refused, text, tmp_path):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "no model")
    assert f"Received: path='{path}', which holds none" in refused("translate", path)


def test_another_keras_model_is_named(refused, tmp_path):
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)]).save(path)
    assert f"Received: path='{path}', which holds none" in refused("translate", path)


def test_a_truncated_keras_file_is_named(refused, translator, text):
    path = text("model.keras", translator.read_bytes()[:-1000])
    assert f"Received: path='{path}'" in refused("translate", path)


def test_a_keras_file_with_damaged_weights_is_named(refused, translator, tmp_path):
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(translator) as good, zipfile.ZipFile(path, "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            bad.writestr(name, content[:999] if name.endswith(".h5") else content)
    message = refused("translate", path)
    assert "a whole translator" in message and f"Received: path='{path}'" in message


def test_a_truncated_tflite_file_is_named(refused, pocket, text):
    for file in pocket.parent.glob("toy.*"):
        content = file.read_bytes()
        path = text(file.name, content[:9999] if file == pocket else content)
    path = path.with_name("toy.tflite")
    assert f"must be a TFLite model with a signature 'translate_ids'. Received: '{path}'" in (
        refused("translate", path)
    )


def test_a_lonely_tflite_file_is_named(refused, pocket, text):
    path = text("alone.tflite", pocket.read_bytes())
    assert f"Received: '{path}', without 'alone.json'" in refused("translate", path)


def test_a_folder_that_is_no_model_is_named(refused, tmp_path):
    message = refused("translate", tmp_path)
    assert f"saved_model.pb, or numbered versions. Received: path='{tmp_path}'" in message


def test_a_damaged_saved_model_is_named(refused, tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"garbage")
    message = refused("translate", tmp_path)
    assert f"a whole SavedModel. Received: path='{tmp_path / '1'}'" in message


@pytest.mark.parametrize("option", ["--beam-size", "--length-penalty"])
def test_an_export_has_its_search_in_it(refused, toy_run, toy_exports, option):
    for name in ("served", "toy.tflite"):
        path = toy_run.folder.parent / name
        assert f"--length-penalty with '{path}'" in refused("translate", path, option, 1)


def test_no_beam_is_no_search(refused, translator):
    message = refused("translate", translator, "--beam-size", 0, stdin=SENTENCE.encode())
    assert "beam_size=0" in message
    message = refused("translate", translator, "--beam-size", 2, "--length-penalty", -1, stdin=b"a")
    assert "length_penalty=-1" in message


def test_only_a_keras_file_is_exported_or_shows_attention(refused, pocket, tmp_path):
    message = refused("export", pocket, "--tflite", tmp_path / "x.tflite")
    assert f"exported. Received: '{pocket}', which is none" in message
    message = refused("attention", pocket, SENTENCE, "--output", tmp_path / "x.png")
    assert f"attention. Received: '{pocket}', which is none" in message


# What is written


def test_a_run_is_not_overwritten_unasked(refused, training, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text('{"finished": true}')
    assert f"Received: '{tmp_path / 'run'}', which holds a finished run" in refused(*training)
    (tmp_path / "run" / "run.json").write_text('{"finished": false}')
    assert "(`overwrite=True`) be given. Received" in (message := refused(*training))
    assert "--overwrite" in message and "which holds an unfinished run" in message


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_what_is_no_run_is_never_overwritten(refused, training, tmp_path, overwrite):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").touch()
    assert "which holds something else" in refused(*training, *overwrite)


def test_output_that_cannot_be_written_is_named(refused, training, pocket, translator, text):
    blocked = text("file", "kept") / "below"
    for arguments in (
        [*training, "--output", blocked],
        ["translate", pocket, "--output", blocked],
        ["export", translator, "--saved-model", blocked],
        ["attention", translator, SENTENCE, "--output", blocked / "a.png"],
    ):
        assert str(blocked.parent) in refused(*arguments)
    assert blocked.parent.read_text() == "kept"


def test_a_folder_is_no_place_for_a_file(refused, pocket, translator, tmp_path):
    folder = tmp_path / "documents.png"
    folder.mkdir()
    (folder / "thesis").touch()
    assert f"'{folder}'" in refused("translate", pocket, "--output", folder)
    assert f"'{folder}'" in refused("attention", translator, SENTENCE, "--output", folder)


def test_an_export_says_what_it_needs(refused, translator, tmp_path):
    assert "--saved-model DIR, --tflite FILE" in refused("export", translator)
    message = refused("export", translator, "--tflite", tmp_path / "x.bin")
    assert "must end in .tflite" in message and "x.bin" in message
    tflite = ("--tflite", tmp_path / "x.tflite")
    message = refused("export", translator, *tflite, "--max-source-length", 1)
    assert "max_source_length=1" in message
    message = refused("export", translator, *tflite, "--check-reference", translator)
    assert "--check-source, which must be given" in message


def test_an_export_without_validation_files_asks_for_some(refused, translator, tmp_path):
    alone = shutil.copy(translator, tmp_path)
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert "give --check-source" in message and f"'{alone}'" in message
    (tmp_path / "run.json").write_text(
        '{"finished": true, "files": {"valid_source": ["gone.de"], "valid_target": ["gone.en"]}}'
    )
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert "give --check-source" in message and "'gone.de', 'gone.en'" in message


@pytest.mark.parametrize("record", ["{", "[]"])
def test_a_record_that_is_of_no_run_is_named(refused, translator, training, tmp_path, record):
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "run.json"
    path.write_text(record)
    alone = shutil.copy(translator, tmp_path / "run")
    message = refused("export", alone, "--tflite", tmp_path / "x.tflite")
    assert f"as `train` writes it. Received: {path}" in message
    assert f"as `train` writes it. Received: {path}" in refused(*training, "--overwrite")


@pytest.mark.parametrize("option, most", [("--layer", 1), ("--head", 2)])
@pytest.mark.parametrize("over", [False, True])
def test_a_layer_or_head_must_exist(refused, translator, tmp_path, option, most, over):
    name, number = option.removeprefix("--"), most + 1 if over else 0
    picture = ("--output", tmp_path / "a.png")
    message = refused("attention", translator, SENTENCE, *picture, option, number)
    assert f"has {name}s 1 to {most}. Received: {name}={number}" in message


def test_a_picture_is_of_some_text_in_some_format(refused, translator, tmp_path):
    assert "text='  '" in refused("attention", translator, "  ", "--output", tmp_path / "a.png")
    message = refused("attention", translator, SENTENCE, "--output", tmp_path / "a.bmp")
    assert ".png" in message and "a.bmp" in message


def test_a_demo_keeps_off_what_is_there(refused, tmp_path):
    (tmp_path / "demo" / "run").mkdir(parents=True)
    (tmp_path / "demo" / "run" / "other").touch()
    message = refused("demo", "--quick", "--output", tmp_path / "demo")
    assert "which holds something else" in message


def test_a_user_who_has_enough_gets_no_traceback(command, monkeypatch, pocket):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kformer.pocket.PocketTranslator.translate", interrupt)
    result = command("translate", pocket, stdin=b"wir")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_errors_come_in_one_line_from_a_process_of_their_own(toy_run, translator, tmp_path):
    """With all that TensorFlow might add on stderr."""
    path = tmp_path / "model.keras"
    path.write_bytes(translator.read_bytes()[:-1000])
    result = toy.run_command("translate", path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("kformer: ") and result.stderr.count("\n") == 1
