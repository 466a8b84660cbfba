"""The `kformer` command: what it promises of each subcommand, and silence on stderr."""

import dataclasses
import gzip
import importlib.metadata
import json
import os
import pty
import re
import subprocess
import sys

import pytest
import typer

import kformer
from kformer import SearchOptions
from kformer.cli import main
from kformer.cli.commands import app_for
from kformer.cli.terminal import line_streams as lines
from kformer.pocket import PocketTranslator
from kformer.text.scores import bleu, chrf, exact
from kformer.threads import available_cores
from kformer.training import Recipe
from kformer.training.run.run_options import TranslationOptions
from support import toy
from support.processes import printed_by

SENTENCE = "der hund ruft uns ."
HEAVY = {"tensorflow", "keras", "numpy", "matplotlib", "sacrebleu", "sentencepiece", "h5py"}
SUBCOMMANDS = [
    "train",
    "split",
    "translate",
    "evaluate",
    "compare",
    "tune",
    "score",
    "encode",
    "align",
    "inspect",
    "export",
    "attention",
    "demo",
]


def but_for_degenerate_output(errors):
    """What is on stderr but for warnings of what the toy model says of words it hardly knows."""
    return re.sub(r"kformer: Line \d+: its translation .*\n", "", errors)


THREADS_OF_TRAIN = """
import sys
import kformer.cli
sys.argv[0] = "kformer"
try:
    kformer.cli.main()
finally:
    import tensorflow as tf
    own = tf.config.threading
    print(own.get_intra_op_parallelism_threads(), own.get_inter_op_parallelism_threads())
"""


@pytest.mark.prove
def test_train_gives_each_of_few_cores_a_part_of_each_batch(toy_run, tmp_path):
    files = toy_run.files
    cores = available_cores()
    printed = printed_by(
        "-c",
        THREADS_OF_TRAIN,
        "train",
        "--recipe",
        "quick",
        "--epochs",
        1,
        "--output",
        tmp_path,
        "--source",
        files["valid.de"],
        "--target",
        files["valid.en"],
    )
    assert printed.splitlines()[-1] == (f"1 {cores}" if 1 < cores <= 4 else "0 0")


def test_train_says_nothing_on_stderr_and_where_the_translator_is(toy_run):
    assert toy_run.result.stderr == ""
    path = toy_run.folder / "translator.keras"
    assert toy_run.result.stdout.endswith(f"The translator is {path}\n")
    assert "tokens/s" in toy_run.result.stdout
    assert path.is_file()


def test_export_writes_both_forms_and_reports_on_them(toy_run, toy_exports, toy_translator):
    assert toy_exports.returncode == 0
    assert toy_exports.stderr.splitlines() == [
        "Translating 16 sentences in Python, to compare with ...",
        "Converting to a .tflite file, float32 ...",
        "Translating 16 sentences with the .tflite file ...",
        "Writing the SavedModel ...",
        "Translating 16 sentences with the SavedModel ...",
    ]
    head, *table, signature, saved_model, tflite = toy_exports.stdout.splitlines()
    assert head.split() == ["form", "MB", "BLEU", "as", "Python"]
    translations = toy_translator.translate(toy.SOURCES[toy.HELD_OUT])
    score = f"{bleu(translations, toy.TARGETS[toy.HELD_OUT]).value:.2f}"
    assert [row.split()[0] for row in table] == ["Python", "SavedModel", ".tflite"]
    assert signature == f"BLEU: {bleu(translations, translations).signature}"
    for row in table:
        assert row.endswith(f"{score}  16 of 16")
    folder = toy_run.folder.parent
    assert saved_model == f"Written: {folder / 'served'}"
    assert tflite == f"Written: {folder / 'toy.tflite'}"
    assert (folder / "served" / "1" / "saved_model.pb").is_file()
    assert (folder / "toy.tflite").is_file()


@pytest.mark.prove
def test_every_form_of_a_model_says_the_same(toy_model, toy_translator):
    """In a process of its own, so that it shows what libraries write on stderr."""
    result = toy.run_command("translate", toy_model, stdin="\n".join(toy.SOURCES))
    assert (result.returncode, but_for_degenerate_output(result.stderr)) == (0, "")
    assert result.stdout.splitlines() == toy_translator.translate(toy.SOURCES)


@pytest.mark.sample(3)
def test_every_form_of_a_model_scores_the_same(
    command, toy_model, toy_run, toy_translator, tmp_path
):
    references = [line.replace("us", "me") for line in toy.TARGETS[toy.HELD_OUT]]
    (tmp_path / "en").write_text("\n".join(references))
    result = command(
        "evaluate",
        toy_model,
        "--source",
        toy_run.files["valid.de"],
        "--reference",
        tmp_path / "en",
    )
    pair = toy_translator.translate(toy.SOURCES[toy.HELD_OUT]), references
    of_bleu, of_chrf = bleu(*pair), chrf(*pair)
    assert 0 < of_bleu.value < 100
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"BLEU   {of_bleu.value:.2f}  {of_bleu.signature}",
        f"chrF   {of_chrf.value:.2f}  {of_chrf.signature}",
        f"exact  {exact(*pair):.2f}  percent of 16 sentences",
    ]


@pytest.mark.prove
@pytest.mark.parametrize(
    "text, number",
    [
        (b"", 0),
        (b"\n", 1),
        (b"wir ruft uns .", 1),
        (b"wir ruft uns .\r\n\r\n \t\r\nder hund .\r\n", 4),
        (b"wir\n\n\nuns", 4),
        ("wir \u2028 uns \x0c ruft \x85 das\n.\n".encode(), 2),
    ],
    ids=["nothing", "blank", "no final newline", "CRLF", "blank lines", "odd separators"],
)
def test_a_line_gives_a_line(command, toy_model, toy_translator, text, number):
    result = command("translate", toy_model, stdin=text)
    texts = [line.removesuffix(b"\r").decode() for line in text.removesuffix(b"\n").split(b"\n")]
    texts = texts if text else []
    assert (result.returncode, but_for_degenerate_output(result.stderr)) == (0, "")
    assert result.stdout.count("\n") == number
    assert "\r" not in result.stdout
    expected = [re.sub("[\u2028\x0c\x85]", " ", line) for line in toy_translator.translate(texts)]
    assert result.stdout.split("\n")[:-1] == expected


def test_input_and_output_may_be_files(command, toy_run, toy_tflite, toy_translator, tmp_path):
    output = tmp_path / "new" / "folder" / "out.en"
    result = command(
        "translate", toy_tflite, "--input", toy_run.files["valid.de"], "--output", output
    )
    assert (result.returncode, result.stdout) == (0, "")
    assert but_for_degenerate_output(result.stderr) == ""
    expected = toy_translator.translate(toy.SOURCES[toy.HELD_OUT])
    assert output.read_bytes().decode() == "".join(f"{line}\n" for line in expected)
    assert list(output.parent.iterdir()) == [output]


def test_input_may_be_gzip(command, toy_tflite, toy_translator, tmp_path):
    path = tmp_path / "in.de.gz"
    path.write_bytes(gzip.compress(f"{SENTENCE}\n".encode()))
    result = command("translate", toy_tflite, "--input", path)
    assert result.stdout.splitlines() == toy_translator.translate([SENTENCE])


@pytest.mark.prove
def test_beams_are_a_matter_of_the_command_for_a_keras_file(command, toy_run, toy_translator):
    model = toy_run.folder / "translator.keras"
    options = ("--beam-size", 3, "--length-penalty", 1)
    result = command("translate", model, *options, stdin="\n".join(toy.SOURCES).encode())
    assert result.stdout.splitlines() == toy_translator.translate(
        toy.SOURCES, beam_size=3, length_penalty=1.0
    )


@pytest.mark.prove
def test_exports_may_have_beams_and_other_sentences_to_check(
    command, toy_run, toy_translator, tmp_path
):
    (tmp_path / "check").write_text("wir ruft uns .\n\n")
    result = command(
        "export",
        toy_run.folder / "translator.keras",
        "--tflite",
        tmp_path / "x.tflite",
        "--beam-size",
        3,
        "--max-source-length",
        31,
        "--check-source",
        tmp_path / "check",
        "--licence",
        "CC0 1.0",
        "--citation",
        "A, 2026",
        "--source-language",
        "de",
    )
    assert result.returncode == 0
    assert all(line.endswith(" ...") for line in result.stderr.splitlines())
    assert [row.split()[2:] for row in result.stdout.splitlines()[2:3]] == [["2", "of", "2"]]
    said = PocketTranslator(tmp_path / "x.tflite").manifest
    expected = {
        "beam_size": 3,
        "max_source_length": 31,
        "licence": "CC0 1.0",
        "citation": "A, 2026",
        "source_language": "de",
    }
    assert expected.items() <= said.items() and "target_language" not in said


@pytest.mark.prove
def test_the_exports_keep_the_language(toy_served, toy_tflite):
    for path in (toy_served, toy_tflite):
        assert kformer.load(path).target_language == "en"


def test_an_export_leaves_a_report(toy_tflite):
    report = json.loads(toy_tflite.with_name("toy.tflite.json").read_text())
    assert report["file"] == "toy.tflite" and report["precision"] == "float32"
    assert report["bytes"] == toy_tflite.stat().st_size
    assert report["sentences"] == report["equal_to_python"] == 16
    assert report["bleu"] == report["bleu_of_python"] > 0
    assert report["bleu_difference"] == 0
    assert report["bleu_signature"] == bleu([""], [""]).signature


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_a_sentence_over_the_limit_is_translated_in_parts_and_said_so(
    command, monkeypatch, toy_model
):
    monkeypatch.setattr(lines, "CHUNK", 2)  # The number of a line is that in the whole text.
    text = f"{SENTENCE}\n" * 2 + "ж" * 200 + f"\n{SENTENCE}\n"
    result = command("translate", toy_model, stdin=text.encode())
    assert result.returncode == 0
    errors = but_for_degenerate_output(result.stderr)
    assert errors == (
        "kformer: Line 3 has a sentence that is too long for the model: "
        "its clauses were translated one by one.\n"
    )
    assert result.stdout.count("\n") == 4


@pytest.mark.prove
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_attention_draws_a_picture_of_each_kind(command, toy_run, tmp_path, kind):
    path = tmp_path / "attention.svg"
    model = toy_run.folder / "translator.keras"
    result = command("attention", model, SENTENCE, "--kind", kind, "--output", path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"The picture is {path}\n"
    assert path.read_text().startswith("<?xml")


@pytest.mark.prove
def test_attention_draws_the_head_that_is_asked_for(command, toy_run, tmp_path):
    """The first in a process of its own, so that it shows what libraries write on stderr."""
    model = toy_run.folder / "translator.keras"
    all_of_them, one = tmp_path / "all.png", tmp_path / "one.png"
    drawn = toy.run_command("attention", model, SENTENCE, "--output", all_of_them)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    command("attention", model, SENTENCE, "--output", one, "--layer", 1, "--head", 2)
    assert all_of_them.read_bytes()[:4] == one.read_bytes()[:4] == b"\x89PNG"
    assert all_of_them.read_bytes() != one.read_bytes()


def test_a_reader_that_has_enough_is_no_error(toy_tflite):
    process = subprocess.Popen(
        [sys.executable, "-m", "kformer", "translate", toy_tflite],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()  # As `head` does.
    process.stdin.write(SENTENCE.encode())
    process.stdin.close()
    assert but_for_degenerate_output(process.stderr.read().decode()) == ""
    process.wait()
    process.stderr.close()


def test_a_terminal_sees_the_progress(toy_tflite):
    terminal, its_other_end = pty.openpty()
    result = subprocess.run(
        [sys.executable, "-m", "kformer", "translate", toy_tflite],
        input=SENTENCE.encode(),
        stdout=subprocess.PIPE,
        stderr=its_other_end,
        check=True,
    )
    os.close(its_other_end)
    shown = os.read(terminal, 10_000)
    os.close(terminal)
    assert b"Translating" in shown and b"1/1" in shown and b"lines/s" in shown
    assert b"Translating" not in result.stdout


def test_version_is_that_of_the_package(command):
    result = command("--version")
    assert (result.returncode, result.stdout) == (0, f"kformer {kformer.__version__}\n")
    assert kformer.__version__ == importlib.metadata.version("kformer")


def test_the_installed_command_is_the_module():
    [script] = importlib.metadata.entry_points(group="console_scripts", name="kformer")
    assert script.load() is main


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_subcommand(command, arguments):
    result = command(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    for name in SUBCOMMANDS:
        assert re.search(rf"^\W+{name} +[A-Z]", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("train", Recipe), ("train", TranslationOptions), ("translate", SearchOptions)],
)
def test_every_field_is_an_option_with_its_description(name, kind):
    options = {
        option.name: option for option in typer.main.get_command(app_for([])).commands[name].params
    }
    fields = dataclasses.fields(kind)
    names = {field.metadata.get("option") or field.name: field.name for field in fields}

    def argument(option):
        name = option[1].replace("-", "_")
        return names.get(name, name)

    for field in fields:
        if field.metadata.get("in_commands", True):
            description = field.metadata["description"].replace("`", "")
            shown = re.sub(r"--([\w-]+)", argument, options[field.name].help)
            shown = re.sub(r" +\[\w+: [^\]]*\]$", "", shown)  # The number of the recipe `tiny`.
            assert shown.replace("`", "") == description


@pytest.mark.parametrize(
    "arguments",
    [(), ("train",), *(pytest.param((name,), marks=pytest.mark.prove) for name in SUBCOMMANDS[1:])],
)
def test_help_comes_at_once(arguments):
    result = toy.run_command(*arguments, "--help", python=["-X", "importtime"])
    assert result.returncode == 0
    assert "Usage:" in result.stdout
    assert all(line.startswith("import time:") for line in result.stderr.splitlines())
    imported = {line.split("|")[-1].strip().split(".")[0] for line in result.stderr.splitlines()}
    assert "kformer" in imported
    assert not imported & HEAVY
