"""`kformer distill`: a student of the toy translator."""

import itertools
import json

import pytest

import kformer
from kformer.cli.terminal import line_streams as lines
from kformer.text.scores import exact
from kformer.training.distributions import Teaching
from support import toy

STUDENT = toy.RECIPE | {
    "--recipe": "student-tiny",
    "--num-layers": 2,
    "--num-heads": 2,
    "--dropout": 0,
    "--ema-momentum": 0.9,  # Of few steps.
}
del STUDENT["--vocab-size"]


@pytest.fixture(scope="module")
def student(toy_run, made_once):
    """What two starts of the command did: the first translates, the second trains."""

    def run(folder):
        arguments = [
            "distill",
            toy_run.folder / "translator.keras",
            "--source",
            toy_run.files["train.de"],
            "--beam-size",
            2,
            "--output",
            folder / "student",
            *itertools.chain(*STUDENT.items()),
        ]
        first = toy.run_command(*arguments, "--translate-only")
        assert first.returncode == 0, first.stderr
        [text] = (folder / "student-text").glob("*.txt")
        [shards] = (folder / "student-text").glob("*.shards")
        written = [path.stat().st_mtime_ns for path in (text, shards)]
        second = toy.run_command(*arguments)
        assert [path.stat().st_mtime_ns for path in (text, shards)] == written
        return folder / "student", text, shards, first, second

    return made_once("student", run)


@pytest.mark.prove
def test_a_student_learns_what_its_teacher_translates(student, toy_translator, toy_run):
    folder, text, shards, first, second = student
    assert first.stdout == (
        f"{text} is the translation of {toy_run.files['train.de']}\n"
        f"{shards} has them as shards, with the teachers' likeliest ids of each word\n"
    )
    assert json.loads((shards / "manifest.json").read_text("utf-8"))["teacher_ids"] == 8
    assert second.returncode == 0, second.stderr
    sources = toy_run.files["train.de"].read_text("utf-8").splitlines()
    learned = text.read_text("utf-8").splitlines()
    assert learned[:64] == toy_translator.translate(sources[:64], beam_size=2)
    assert len(learned) == len(sources)

    model = kformer.load(folder / "translator.keras")
    layers = model.transformer.encoder.num_layers, model.transformer.decoder.num_layers
    assert layers == (2, 1)
    assert model.tokenizer.model == toy_translator.tokenizer.model
    agreement = exact(model.translate(toy.SOURCES), toy_translator.translate(toy.SOURCES))
    assert agreement > 50  # Percent; an untrained student has none.


@pytest.mark.prove
def test_translating_goes_on_where_it_was_stopped(
    command, monkeypatch, toy_keras, toy_translator, toy_run, tmp_path
):
    done, whole = [], Teaching.__call__

    def stopped(self, pairs, progress=None):
        done.append(len(pairs))
        if len(done) == 3:
            raise KeyboardInterrupt
        return whole(self, pairs, progress)

    monkeypatch.setattr(lines, "CHUNK", 5)
    monkeypatch.setattr(Teaching, "__call__", stopped)
    source = toy_run.files["valid.de"]
    arguments = ("distill", toy_keras, "--source", source, "--beam-size", 2, "--translate-only")
    arguments += ("--distributions", 0)
    output = ("--output", tmp_path / "student", "--translations", tmp_path / "text")
    assert command(*arguments, *output).returncode == 130
    result = command(*arguments, *output)
    assert result.returncode == 0
    assert "Resuming after line 10 of 16." in result.stderr
    assert done == [5, 5, 5, 5, 1]
    [text] = (tmp_path / "text").iterdir()
    sources = source.read_text("utf-8").splitlines()
    assert text.read_text("utf-8").splitlines() == toy_translator.translate(sources, beam_size=2)


@pytest.mark.prove
def test_a_finished_student_is_not_replaced_before_hours_of_translating(
    student, refused, toy_run, toy_keras
):
    folder, text, *_ = student
    before = sorted(text.parent.iterdir())
    arguments = ("distill", toy_keras, "--source", toy_run.files["valid.de"], "--output", folder)
    assert "which holds a run that is finished" in refused(*arguments)
    assert sorted(text.parent.iterdir()) == before
    assert json.loads((folder / "run.json").read_text("utf-8"))["finished"]


def test_only_what_can_teach_teaches(refused, toy_run, toy_keras, toy_tflite, tmp_path):
    arguments = ("--source", toy_run.files["valid.de"], "--output", tmp_path / "student")
    assert refused("distill", toy_tflite, *arguments).startswith(
        "kformer: Only a .keras file or a folder of CTranslate2 can teach."
    )
    message = refused("distill", toy_keras, *arguments, "--metric", "ter")
    assert "Received: metric='ter'" in message
    message = refused("distill", toy_keras, *arguments, "--patience", 3)
    assert "patience=3" in message
    message = refused("distill", toy_keras, *arguments, "--recipe", "huge")
    assert "Received: recipe='huge'" in message


def test_a_student_of_another_vocabulary_learns_translations_alone(
    refused, toy_run, toy_keras, tokenizer, tmp_path
):
    tokenizer.save(tmp_path / "other.model")
    arguments = ("--source", toy_run.files["valid.de"], "--output", tmp_path / "student")
    message = refused("distill", toy_keras, *arguments, "--tokenizer", tmp_path / "other.model")
    assert "--distributions 0 leaves that out. Received: tokenizer=" in message
