"""What the user can mend: one line on stderr that says what to do, exit code 2, nothing written."""

import gzip
import importlib.util
import re

import pytest

from support import toy


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["trian"], "`kformer` has no command 'trian': use `kformer train`. Received: 'trian'."),
        (["lm", "xyz"], "has no command 'xyz'; `kformer lm --help` lists all. Received: 'xyz'."),
        (
            ["--verbose"],
            "`kformer` has no option --verbose; `kformer --help` lists all. Received: --verbose.",
        ),
        (["-V"], "`kformer` has no option -V: use --version. Received: -V."),
        (["translate"], "Missing argument 'model'"),
        (
            ["translate", "model", "--beams", "3"],
            "`kformer translate` has no option --beams: use --beam-size. Received: --beams.",
        ),
        (["translate", "model", "-o", "a"], "has no option -o: use --output. Received: -o."),
        (["translate", "model", "-i", "a"], "has no option -i: use --input."),
        (["train", "--lr", "3"], "has no option --lr: use --learning-rate."),
        (["train", "--batch-size", "3"], "has no option --batch-size: use --tokens-per-batch."),
        (["train", "--gpu", "3"], "has no option --gpu: use --devices."),
        (["translate", "model", "--gpu"], "--gpu; `kformer translate --help` lists all."),
        (
            ["translate", "model", "--beam-size", "x"],
            "`beam_size` must be an integer. Received: beam_size='x'.",
        ),
        (
            ["translate", "model", "--format", "xml"],
            "`format` must be one of text, tsv, jsonl. Received: format='xml'.",
        ),
        (
            ["train", "--output", "a", "--dropout", "much"],
            "`dropout` must be a number. Received: dropout='much'.",
        ),
        (
            ["request", "http://host", "--n-best", "0"],
            "`n_best` must be at least 1. Received: n_best='0'.",
        ),
        (
            ["evaluate", "model", "a", "--source", "b", "--reference", "c"],
            "text is read from a file by --source FILE. Received: a.",
        ),
        (["train", "--source", "a", "--target", "b"], "Missing option '--output'"),
        (
            ["attention", "model", "text", "--output", "a.png", "--kind", "self"],
            "Received: kind='self'.",
        ),
        (
            ["translate", "model", "more"],
            "There is no such file or folder. Received: path='model'.",
        ),
    ],
)
def test_wrong_options_are_named(refused, arguments, message):
    assert message in refused(*arguments)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--epochs", -1, "`epochs` must be at least 0. Received: epochs=-1."),
        ("--num-layers", 0, "Received: num_layers=0."),
        ("--num-heads", 0, "Received: num_heads=0."),
        ("--d-ff", -5, "Received: d_ff=-5."),
        ("--warmup-steps", 0, "Received: warmup_steps=0."),
        ("--vocab-size", 0, "Received: vocab_size=0."),
        ("--dropout", 1.5, "`dropout` must be less than 1. Received: dropout=1.5."),
        ("--label-smoothing", 1, "Received: label_smoothing=1.0."),
        ("--d-model", 63, "Received: d_model=63, num_heads=2."),
        ("--num-heads", 3, "Received: d_model=64, num_heads=3."),
        ("--max-length", 1, "`max_length` must be at least 2. Received: max_length=1."),
        ("--tokens-per-batch", 63, "Received: max_length=64, tokens_per_batch=63."),
        ("--learning-rate-scale", 0, "Received: learning_rate_scale=0.0."),
        ("--learning-rate-scale", "inf", "Received: learning_rate_scale=inf."),
        ("--max-length-ratio", "nan", "Received: max_length_ratio=nan."),
        ("--weight", "inf", "Received: weights=[inf] for 1 pairs of files."),
        ("--validate-every", -1, "must be at least 0. Received: validate_every=-1."),
        ("--gradient-accumulation", 0, "Received: gradient_accumulation=0."),
        ("--precision", "float16", "one of float32, bfloat16. Received: precision='float16'."),
        ("--monitor", "ter", "bleu, chrf, accuracy, f1, auto. Received: monitor='ter'."),
        ("--tokenize", "char", "one of bleu, chrf. Received: tokenize='char', monitor='loss'."),
        ("--max-length-ratio", 0.5, "at least 1; or 0 for any. Received: max_length_ratio=0.5."),
        ("--piece-splitting", 1, "must be less than 1. Received: piece_splitting=1.0."),
        ("--weight", 0, "Received: weights=[0.0] for 1 pairs of files."),
        ("--temperature", 0, "`temperature` must be over 0. Received: temperature=0.0."),
        ("--warm-start", "no.keras", "There is no such file. Received: 'no.keras'."),
        ("--patience", -1, "`patience` must be at least 0. Received: patience=-1."),
        ("--patience", 1, "need validation text. Received: patience=1, monitor='loss'"),
        ("--monitor", "bleu", "need validation text. Received: patience=0, monitor='bleu'"),
        ("--seed", -1, "Received: seed=-1."),
        ("--backend", "torch", "must be one of tensorflow, jax. Received: backend='torch'."),
        ("--backend", "jax", "Received: backend='jax', after 'tensorflow'."),
        (
            "--recipe",
            "huge",
            "student-tiny-ssru, tiny. Received: recipe='huge'.",
        ),
        ("--recipe", "reviews", "Received: recipe='reviews', which is for a classifier."),
        ("--recipe", "lm", "Received: recipe='lm', which is for a language model."),
        ("--vocab-size", 3, "`vocab_size` must be over 260: "),
        ("--vocab-size", 270, "`vocab_size` must be at least 2"),
        ("--vocab-size", 9000, "`vocab_size` must be at most 3"),
    ],
)
def test_numbers_must_make_sense(refused, training, option, value, message):
    assert message in refused(*training, option, value)


@pytest.mark.parametrize(
    "options, message",
    [
        (("--weight", 1, "--temperature", 2), "by `weights` or by `temperature`, not by both."),
        (("--new-vocabulary",), "`new_vocabulary` needs `warm_start`"),
        (("--warm-start", "a.keras", "--d-model", 32), "no such file. Received: 'a.keras'."),
    ],
)
def test_options_must_go_together(refused, training, options, message):
    assert message in refused(*training, *options)


def test_a_backend_must_be_installed(refused, training, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    message = refused(*training, "--backend", "jax")
    assert "pip install 'kformer[jax]'" in message and "Received: backend='jax'." in message


def test_the_advice_on_what_would_fit_is_good(refused, training):
    message = refused(*training, "--vocab-size", 9000)
    fits = int(re.search(r"at most (\d+), which is what this text supports", message)[1])
    assert fits >= toy.RECIPE["--vocab-size"]
    assert f"at most {fits}," in refused(*training, "--vocab-size", fits + 1)


def test_a_missing_file_is_named(refused, training, toy_keras, tmp_path):
    missing = tmp_path / "missing"
    for arguments in (
        [*training, "--source", missing, "--target", missing],
        [*training, "--valid-source", missing, "--valid-target", missing],
        ["translate", toy_keras, "--input", missing],
        ["evaluate", toy_keras, "--source", missing, "--reference", missing],
        ["export", toy_keras, "--tflite", tmp_path / "x.tflite", "--check-source", missing],
        ["translate", missing],
    ):
        assert f"'{missing}'" in refused(*arguments)


def test_files_of_different_length_are_named_with_both_counts(
    refused, toy_run, toy_keras, written, tmp_path
):
    two, three = written("two", "a\nb\n"), written("three", "a\nb\nc")
    counts = f"Received: 2 in '{two}', 3 in '{three}'."
    train = ["train", "--output", tmp_path / "run"]
    files = toy_run.files
    for arguments in (
        [*train, "--source", two, "--target", three],
        [
            *train,
            "--source",
            files["train.de"],
            "--target",
            files["train.en"],
            "--valid-source",
            two,
            "--valid-target",
            three,
        ],
        ["evaluate", toy_keras, "--source", two, "--reference", three],
        [
            "export",
            toy_keras,
            "--saved-model",
            tmp_path / "served",
            "--check-source",
            two,
            "--check-reference",
            three,
        ],
    ):
        assert counts in refused(*arguments)


def test_an_empty_file_is_named(refused, toy_keras, written, tmp_path):
    empty = written("empty", "")
    for arguments in (
        ["train", "--output", tmp_path / "run", "--source", empty, "--target", empty],
        ["evaluate", toy_keras, "--source", empty, "--reference", empty],
        ["export", toy_keras, "--tflite", tmp_path / "x.tflite", "--check-source", empty],
    ):
        assert f"must not be empty. Received: '{empty}'" in refused(*arguments)


def test_text_that_is_not_utf_8_is_named_with_its_line(refused, toy_keras, written, tmp_path):
    latin = written("latin", "ja\nnein\nschön\n".encode("latin-1"))
    for arguments in (
        ["train", "--output", tmp_path / "run", "--source", latin, "--target", latin],
        ["translate", toy_keras, "--input", latin, "--output", tmp_path / "out"],
        ["evaluate", toy_keras, "--source", latin, "--reference", latin],
    ):
        assert f"must be UTF-8. Received: '{latin}', where line 3" in refused(*arguments)


def test_input_that_is_not_utf_8_is_named_with_its_line(refused, toy_tflite, tmp_path):
    output = ("--output", tmp_path / "out")
    message = refused("translate", toy_tflite, *output, stdin=b"ja\nsch\xf6n\n")
    assert "must be UTF-8. Received: stdin, where line 2" in message


@pytest.mark.parametrize("whole", [True, False])
def test_a_gz_file_that_is_none_is_named(refused, toy_tflite, written, whole):
    path = written("text.gz", b"no gzip" if whole else gzip.compress(b"text" * 99)[:-9])
    assert f"must be gzip. Received: '{path}'" in refused("translate", toy_tflite, "--input", path)


def test_validation_needs_both_sides(refused, training, toy_run):
    message = refused(*training, "--valid-source", toy_run.files["valid.de"])
    assert "1 source and 0 target files" in message
