"""The search of a folder of CTranslate2: as in Python, from the export to every command."""

import json
import shutil
import warnings

import pytest

import kformer
from kformer.export import CTranslate2Translator, export_ctranslate2
from support import toy
from support.beam import needs_beam

pytest.importorskip("ctranslate2", reason="Not installed: ctranslate2.")
TEXTS = [*toy.SOURCES[:60], "", "xyz xyz", " ".join(toy.SOURCES[:20])]
OPTIONS = {
    "defaults": {"beam_size": 4},
    "Marian's lengths": {"beam_size": 3, "length_penalty": 1.0, "length_offset": 0.0},
    "cut": {"beam_size": 4, "max_length": 3},
    "greedy, no word twice": {"no_repeat_ngram": 1},
    "greedy, at least 9 ids": {"min_length": 9},
    "penalty of repetitions": {"beam_size": 2, "repetition_penalty": 1.3},
}


def copied(toy_keras, **options):
    translator = kformer.load(toy_keras)
    translator.search_defaults = options
    return translator


@pytest.fixture(scope="module")
def folder(toy_keras, tmp_path_factory):
    """A folder with 4 beams."""
    folder = tmp_path_factory.mktemp("ctranslate2") / "folder"
    return export_ctranslate2(copied(toy_keras), folder, beam_size=4)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", OPTIONS)
def test_it_searches_as_python_does(name, folder, toy_translator):
    options = kformer.SearchOptions(**OPTIONS[name])
    with warnings.catch_warnings(action="ignore"):  # Of the text that is cut.
        expected = toy_translator.translations(TEXTS, options, details=False)
        answers = CTranslate2Translator(folder, options=options).translations(TEXTS)
    assert [best.text for best, *_ in answers] == [best.text for best, *_ in expected]
    assert [best.flags for best, *_ in answers] == [best.flags for best, *_ in expected]
    if not options.no_repeat_ngram and not options.min_length:  # Where it leaves out forbidden ids.
        scores = [best.score for text, (best, *_) in zip(TEXTS, expected, strict=True) if text]
        ours = [best.score for text, (best, *_) in zip(TEXTS, answers, strict=True) if text]
        assert ours == pytest.approx(scores, abs=1e-3)


def test_the_search_of_the_export_is_in_the_folder(folder, toy_translator, command):
    form = kformer.load(folder)
    assert form.options == kformer.SearchOptions(4)
    expected = toy_translator.translate(TEXTS[:20], beam_size=4)
    assert form.translate(TEXTS[:20]) == expected
    stdin = "\n".join(TEXTS[:20]).encode()
    assert command("translate", folder, stdin=stdin).stdout.splitlines() == expected
    assert "4 beams, length penalty 0.6" in command("inspect", folder).stdout


def test_a_folder_without_a_search_is_searched_greedily(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "old")
    path = tmp_path / "old" / "kformer.json"
    description = json.loads(path.read_text("utf-8"))
    for name in ("search", "max_target_length"):
        del description[name]
    path.write_text(json.dumps(description), "utf-8")
    old = kformer.load(tmp_path / "old")
    greedy = CTranslate2Translator(folder, options=kformer.SearchOptions())
    assert old.options == greedy.options
    assert old.translate(TEXTS[:20]) == greedy.translate(TEXTS[:20])
    path.write_text(json.dumps({**description, "search": {"beams": 2}}), "utf-8")
    with pytest.raises(ValueError, match=r"must have options of a search.*`beams`"):
        kformer.load(tmp_path / "old")


def test_of_several_translations_each_is_another_text(folder):
    options = kformer.SearchOptions(4, n_best=3)
    [answers] = CTranslate2Translator(folder, options=options).translations([toy.SOURCES[0]])
    assert len(answers) == len({answer.text for answer in answers}) == 3
    assert answers == sorted(answers, key=lambda answer: -answer.score)


def test_options_that_it_does_not_have_are_refused(folder, toy_keras, refused, tmp_path):
    translator = copied(toy_keras, beam_size=2, coverage_penalty=0.25)
    with pytest.raises(ValueError, match=r"Received: coverage_penalty=0.25\."):
        export_ctranslate2(translator, tmp_path / "new")
    with pytest.raises(ValueError, match=r"Received: sample=True\."):
        CTranslate2Translator(folder, options=kformer.SearchOptions(sample=True))
    arguments = ["translate", toy_keras, "--engine", "ctranslate2"]
    assert "--n-best 2" in refused(*arguments, "--beam-size", 2, "--n-best", 2)


def test_a_keras_file_is_searched_on_the_fly_with_the_options_of_the_command(
    command, toy_keras, folder
):
    texts, options = toy.SOURCES[:9], kformer.SearchOptions(max_length=3)
    arguments = ["translate", toy_keras, "--engine", "ctranslate2", "--max-length", 3]
    result = command(*arguments, stdin="\n".join(texts).encode())
    expected = CTranslate2Translator(folder, options=options).translate(texts)
    assert result.stdout.splitlines() == expected


@pytest.mark.prove
def test_the_export_compares_greedy_search_and_the_beams(command, toy_keras, toy_run, tmp_path):
    source = toy_run.files["valid.de"]
    arguments = ["export", toy_keras, "--ctranslate2", tmp_path / "folder", "--beam-size", 4]
    result = command(*arguments, "--check-source", source)
    assert result.returncode == 0, result.stderr
    greedy, beams = result.stdout.splitlines()[2:4]
    assert greedy.startswith("CTranslate2  ") and beams.startswith("CTranslate2, 4 beams  ")
    count = len(source.read_text("utf-8").splitlines())
    assert greedy.endswith(f" {count} of {count}") and beams.endswith(f" {count} of {count}")
    assert kformer.load(tmp_path / "folder").options.beam_size == 4


def test_it_teaches_a_student_its_translations(command, refused, folder, toy_run, tmp_path):
    source, target = toy_run.files["valid.de"], toy_run.files["valid.en"]
    arguments = ["distill", folder, "--source", source, "--output", tmp_path / "student"]
    assert "give --distributions 0. Received: distributions=8" in refused(*arguments)
    arguments += ["--distributions", 0, "--beam-size", 3, "--translate-only"]
    assert "teaches alone: only" in refused("distill", folder, *arguments[1:])
    result = command(*arguments)
    assert result.returncode == 0, result.stderr
    [text] = (tmp_path / "student-text").iterdir()
    options = kformer.SearchOptions(beam_size=3)
    sources = source.read_text("utf-8").splitlines()
    answers = CTranslate2Translator(folder, options=options).translations(sources)
    unflagged = ["" if best.flags else best.text for best, *_ in answers]
    assert text.read_text("utf-8").splitlines() == unflagged
    result = command(*arguments, "--target", target)
    assert result.returncode == 0, result.stderr


@needs_beam
def test_it_translates_on_a_runner(command, folder, toy_run, tmp_path):
    source, output = toy_run.files["valid.de"], tmp_path / "valid.en"
    arguments = ["--runner", "DirectRunner", "--input", source, "--output", output]
    result = command("translate", folder, *arguments)
    assert result.returncode == 0, result.stderr
    sources = source.read_text("utf-8").splitlines()
    assert output.read_text("utf-8").splitlines() == kformer.load(folder).translate(sources)


def test_a_stopped_translation_resumes(command, folder, toy_run, tmp_path):
    source, output = toy_run.files["valid.de"], tmp_path / "valid.en"
    result = command("translate", folder, "--input", source, "--output", output, "--resume")
    assert result.returncode == 0, result.stderr
    assert output.read_text("utf-8").count("\n") == source.read_text("utf-8").count("\n")
