"""`kformer translate` with all that a search can do, and `kformer score`."""

import dataclasses
import json
import math
import re
import zipfile

import numpy as np
import pytest

from kformer import Ensemble, SearchOptions, Transformer, Translator, perplexity
from kformer.cli.terminal import line_streams as lines
from kformer.export import export_saved_model, export_tflite
from support import toy
from support.reference import perturbed

TEXTS = toy.SOURCES[:5]
TEXT = "\n".join(TEXTS).encode()


@pytest.fixture(scope="module")
def looping_translator(tokenizer):
    """It says one thing again and again."""
    transformer = perturbed(Transformer(400, 1, 16, 2, 24, norm_first=True))
    norm, table = transformer.decoder.norm, np.array(transformer.target_embedding.table)
    word = [piece.isalpha() for piece in tokenizer.pieces(range(400))].index(True)
    table[word] *= 99  # Nothing resembles it more than itself.
    transformer.target_embedding.table.assign(table)
    norm.gamma.assign(norm.gamma * 0)
    norm.beta.assign(table[word])
    return Translator(tokenizer, transformer, max_source_length=40)


@pytest.fixture(scope="module")
def looping(looping_translator, tmp_path_factory):
    path = tmp_path_factory.mktemp("looping") / "translator.keras"
    looping_translator.save(path)
    return path


def test_tsv_is_number_score_and_text(command, toy_keras, toy_translator):
    result = command("translate", toy_keras, "--format", "tsv", stdin=TEXT)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    expected = toy_translator.translations(TEXTS)
    assert [int(number) for number, _, _ in rows] == [1, 2, 3, 4, 5]
    assert [text for _, _, text in rows] == [best.text for best, *_ in expected]
    scores = [float(score) for _, score, _ in rows]
    np.testing.assert_allclose(scores, [best.score for best, *_ in expected], atol=1e-3)


@pytest.mark.prove
def test_json_lines_are_all_that_is_known(command, toy_keras, toy_translator):
    options = ("--beam-size", 4, "--n-best", 3, "--format", "jsonl")
    result = command("translate", toy_keras, *options, stdin=TEXT)
    assert result.returncode == 0
    read = [json.loads(line) for line in result.stdout.split("\n")[:-1]]
    several = toy_translator.translations(TEXTS, SearchOptions(beam_size=4, n_best=3))
    expected = [(n, one) for n, row in enumerate(several, start=1) for one in row]
    assert len(expected) == 15
    for got, (number, one) in zip(read, expected, strict=True):
        known = {**dataclasses.asdict(one), "line": number, "alignment": one.alignment}
        known["word_alignment"] = one.word_alignment
        del known["attention"]
        assert known.pop("quality") is None  # Then the line lacks it.
        for name in ("score", "token_log_probabilities"):
            np.testing.assert_allclose(got.pop(name), known.pop(name), atol=1e-3)
        assert got == json.loads(json.dumps(known))


@pytest.fixture(scope="module")
def other_keras(toy_translator, tmp_path_factory):
    """Another translator of the vocabulary, which finds other probabilities."""
    other = toy_translator.copy()
    perturbed(other.transformer)
    path = tmp_path_factory.mktemp("other") / "other.keras"
    other.save(path)
    return path


@pytest.mark.prove
def test_an_ensemble_translates_together(command, toy_keras, toy_translator, other_keras):
    options = ("--format", "tsv", "--beam-size", 2, "--max-length", 12)
    result = command("translate", toy_keras, "--ensemble", other_keras, *options, stdin=TEXT)
    assert result.returncode == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    both = Ensemble([toy_translator, Translator.load(other_keras)])
    expected = both.translations(TEXTS, SearchOptions(beam_size=2, max_length=12))
    assert [text for _, _, text in rows] == [best.text for best, *_ in expected]
    scores = [float(score) for _, score, _ in rows]
    np.testing.assert_allclose(scores, [best.score for best, *_ in expected], atol=1e-3)


@pytest.mark.prove
def test_an_ensemble_of_one_model_twice_scores_as_the_model(command, toy_keras, written):
    source = written("source", TEXT)
    reference = written("reference", "\n".join(toy.TARGETS[:5]))
    arguments = ("evaluate", toy_keras, "--source", source, "--reference", reference)
    alone = command(*arguments)
    assert alone.stdout.startswith("BLEU")
    assert command(*arguments, "--ensemble", toy_keras).stdout == alone.stdout


@pytest.mark.prove
def test_an_ensemble_is_of_keras_files_of_one_vocabulary(
    refused, toy_keras, toy_tflite, looping, written
):
    text = written("text", TEXT)
    translated, scored = ("--input", text), ("--source", text, "--reference", text)
    for name, arguments in {"translate": translated, "evaluate": scored}.items():
        message = refused(name, toy_tflite, *arguments, "--ensemble", toy_keras)
        assert f"Received: --ensemble with {str(toy_tflite)!r}." in message
    message = refused("translate", toy_keras, *translated, "--ensemble", toy_tflite)
    assert message.startswith("kformer: Only a .keras file can be part of an ensemble.")
    message = refused("translate", toy_keras, *translated, "--ensemble", looping)
    assert "must have the same vocabulary" in message and "of 400 ids" in message


@pytest.mark.prove
def test_every_option_reaches_the_search(command, toy_keras, toy_translator):
    def scores(**options):
        found = toy_translator.translations(TEXTS, SearchOptions(**options), details=False)
        return [round(best.score, 2) for best, *_ in found]

    for options in (
        {"beam_size": 3, "length_penalty": 0.2},
        {"beam_size": 3, "coverage_penalty": 0.5},
        {"sample": True, "temperature": 2.0, "top_k": 20, "top_p": 0.9, "seed": 3},
        {"min_length": 4, "max_length": 5, "no_repeat_ngram": 1},
        {"min_length_ratio": 0.5, "max_length_ratio": 0.7, "repetition_penalty": 5.0},
    ):
        flags = []
        for name, value in options.items():
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
        result = command("translate", toy_keras, *flags, "--format", "tsv", stdin=TEXT)
        assert result.returncode == 0
        rows = [line.split("\t") for line in result.stdout.splitlines()]
        expected = scores(**options)
        np.testing.assert_allclose([float(score) for _, score, _ in rows], expected, atol=0.02)
        assert expected != scores(beam_size=options.get("beam_size", 1))


@pytest.mark.prove
def test_chunks_change_nothing(command, monkeypatch, toy_keras, toy_translator):
    expected = toy_translator.translate(TEXTS, sample=True, seed=1)
    for name, most in (("CHUNK", 2), ("CHUNK_CHARACTERS", 50)):
        monkeypatch.setattr(lines, name, most)
        result = command("translate", toy_keras, "--sample", "--seed", 1, stdin=TEXT)
        assert result.stdout.splitlines() == expected


@pytest.mark.prove
@pytest.mark.parametrize("by_file", [True, False])
def test_a_prefix_for_every_line(command, toy_keras, toy_translator, written, by_file):
    prefixes = ["the dog", "", "we", "", "a child"]
    source, prefix = written("de", TEXT), written("prefix", "\n".join(prefixes))
    of_text = {"stdin": b""} if by_file else {"stdin": TEXT}
    input = ("--input", source) if by_file else ()
    result = command("translate", toy_keras, *input, "--prefix", prefix, **of_text)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == toy_translator.translate(TEXTS, prefixes=prefixes)
    for said, forced in zip(result.stdout.splitlines(), prefixes, strict=True):
        assert said.startswith(forced)


@pytest.mark.prove
def test_every_line_needs_its_prefix(refused, toy_keras, written):
    source, two, nine = written("de", TEXT), written("two", "a\nb\n"), written("nine", "a\n" * 9)
    message = refused("translate", toy_keras, "--input", source, "--prefix", two)
    assert f"Received: 5 in '{source}', 2 in '{two}'" in message
    for file, more in ((two, "fewer"), (nine, "more")):
        # The reason is seen when both are read to the end: stdin has no length.
        message = refused("translate", toy_keras, "--prefix", file, stdin=TEXT)
        assert f"Received: {more} lines in '{file}'" in message


def test_several_translations_need_to_be_told_apart(refused, toy_keras):
    message = refused("translate", toy_keras, "--beam-size", 2, "--n-best", 2, stdin=TEXT)
    assert "--format tsv or jsonl" in message and "n_best=2" in message
    message = refused("translate", toy_keras, "--n-best", 2, "--format", "tsv", stdin=TEXT)
    assert "beam_size=1, n_best=2" in message


def test_numbers_are_checked_before_the_model_is_read(refused, toy_keras, tmp_path):
    path = tmp_path / "no_weights.keras"
    with zipfile.ZipFile(toy_keras) as whole, zipfile.ZipFile(path, "w") as part:
        for name in {*whole.namelist()} - {"model.weights.h5"}:
            part.writestr(name, whole.read(name))
    message = refused("translate", path, "--top-p", 2)
    assert "`top_p` must be at most 1. Received: top_p=2.0." in message


@pytest.mark.prove
def test_a_models_own_search_is_used_unless_the_command_line_says_otherwise(
    command, toy_keras, toy_translator, tmp_path
):
    translator, path = Translator.load(toy_keras), tmp_path / "own.keras"
    translator.search_defaults = own = {"beam_size": 3, "length_penalty": 1.0, "max_length": 6}
    translator.save(path)

    for given, changed in (
        ([], {}),
        (["--beam-size", 1, "--max-length", 50], {"beam_size": 1, "max_length": 50}),
    ):
        result = command("translate", path, *given, stdin=TEXT + b"\n")
        expected = toy_translator.translate(TEXTS, **{**own, **changed})
        assert result.stdout.splitlines() == expected
    shown = command("inspect", path).stdout
    assert "by default beam-size 3, length-penalty 1.0, max-length 6" in shown
    several = command("translate", path, "--n-best", 3, "--format", "tsv", stdin=b"ein bier\n")
    assert several.returncode == 0 and several.stdout.count("\n") == 3


@pytest.mark.prove
def test_degenerate_output_is_reported_with_its_line(command, monkeypatch, looping):
    monkeypatch.setattr(lines, "CHUNK", 2)
    for format in ("text", "tsv", "jsonl"):
        result = command("translate", looping, "--format", format, stdin=b"\n\nein bier\n\n")
        assert result.returncode == 0
        assert result.stdout.count("\n") == 4
        assert result.stderr == (
            "kformer: Line 3: its translation was cut at its largest length, repeats itself, "
            "has a length that is absurd for its source.\n"
        )
    flags = [json.loads(line)["flags"] for line in result.stdout.splitlines()]
    assert flags == [[], [], ["length limit", "loop", "length ratio"], []]


@pytest.mark.prove
def test_of_many_degenerate_lines_the_first_are_told_and_the_others_counted(command, looping):
    result = command("translate", looping, stdin=b"ein bier\n" * 13)
    assert (result.returncode, result.stdout.count("\n")) == (0, 13)
    said = result.stderr.splitlines()
    problem = (
        "its translation was cut at its largest length, repeats itself, has a length that is "
        "absurd for its source."
    )
    assert said[:10] == [f"kformer: Line {number}: {problem}" for number in range(1, 11)]
    assert said[10:] == [f"kformer: 3 more: Line #: {problem}"]


@pytest.mark.filterwarnings("default")
@pytest.mark.prove
@pytest.mark.parametrize(
    ("export", "options"),
    [(export_saved_model, {}), (export_tflite, {}), (export_tflite, {"batch_size": 3})],
    ids=["SavedModel", "tflite", "tflite with batches"],
)
def test_every_form_says_the_same_of_what_went_wrong(
    command, capfdbinary, monkeypatch, looping_translator, looping, tmp_path, export, options
):
    monkeypatch.setattr(lines, "CHUNK", 4)
    exported = export(looping_translator, tmp_path / "looping.tflite", **options)
    capfdbinary.readouterr()  # What LiteRT said meanwhile.
    text = ("\nein bier\n\n" + "bier " * 300 + "\nbier\n\nzwei bier\n").encode()
    expected, result = (command("translate", model, stdin=text) for model in (looping, exported))
    assert (result.returncode, result.stdout) == (0, expected.stdout)
    said, said_by_python = (
        re.sub("Line 4 (has|is) .* only .*", "Line 4 was cut", one.stderr).splitlines()
        for one in (result, expected)
    )
    assert said == said_by_python
    assert said[0] == "kformer: Line 4 was cut"  # What is cut is known before the rest.
    assert [re.search(r"Line (\d)", line)[1] for line in said] == ["4", "2", "4", "5", "7"]
    assert all("was cut at its largest length, repeats itself" in said[i] for i in (1, 3, 4))


@pytest.mark.prove
def test_a_score_for_every_line(command, toy_run, toy_keras, toy_translator, tmp_path):
    files = ("--source", toy_run.files["valid.de"], "--target", toy_run.files["valid.en"])
    scored = toy_translator.score(toy.SOURCES[toy.HELD_OUT], toy.TARGETS[toy.HELD_OUT])
    result = command("score", toy_keras, *files)
    assert (result.returncode, result.stderr) == (0, "")
    rows = [[float(number) for number in line.split("\t")] for line in result.stdout.splitlines()]
    np.testing.assert_allclose(rows, [(one.log_probability, one.mean) for one in scored], atol=1e-3)
    assert math.exp(-sum(total for total, _ in rows) / sum(t / m for t, m in rows)) == (
        pytest.approx(perplexity(scored), rel=1e-2)
    )
    command("score", toy_keras, *files, "--output", tmp_path / "scores")
    assert (tmp_path / "scores").read_text() == result.stdout


@pytest.mark.prove
def test_the_perplexity_of_a_file(command, toy_run, toy_keras, toy_translator):
    files = ("--source", toy_run.files["valid.de"], "--target", toy_run.files["valid.en"])
    scored = toy_translator.score(toy.SOURCES[toy.HELD_OUT], toy.TARGETS[toy.HELD_OUT])
    result = command("score", toy_keras, *files, "--summary")
    tokens = sum(len(one.tokens) for one in scored)
    expected = f"perplexity  {perplexity(scored):.2f}  of {tokens} tokens in 16 lines\n"
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{expected}bits   ")


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_a_pair_over_the_limit_is_scored_in_part_and_said_so(command, toy_keras, written):
    long, short = "🐕" * 99, "hund"
    source, target = written("de", f"{short}\n{long}\n"), written("en", f"{long}\n{short}\n")
    result = command("score", toy_keras, "--source", source, "--target", target)
    assert result.returncode == 0
    first, second = result.stderr.splitlines()
    assert re.fullmatch(r"kformer: Source of line 2 has .* over the limit .* scored\.", first)
    assert re.fullmatch(r"kformer: Target of line 1 has .* over the limit .* scored\.", second)


def test_only_a_keras_file_scores(refused, toy_tflite, toy_keras, written):
    one, two = written("one", "a\n"), written("two", "a\nb\n")
    message = refused("score", toy_tflite, "--source", one, "--target", one)
    assert f"can score. Received: '{toy_tflite}', which is none" in message
    message = refused("score", toy_keras, "--source", one, "--target", two)
    assert f"Received: 1 in '{one}', 2 in '{two}'" in message


@pytest.mark.prove
def test_a_glossary_has_the_terms_of_lines_and_paragraphs(command, toy_keras, written):
    arguments = ("translate", toy_keras, "--glossary", written("terms.tsv", "hund\thound\n"))
    result = command(*arguments, stdin=b"der hund sucht den baum .\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert "hound" in result.stdout and "dog" not in result.stdout
    paragraph = command(*arguments, "--paragraphs", stdin=b"der hund sucht den baum .\n")
    assert paragraph.stdout == result.stdout


def test_a_malformed_glossary_is_refused_and_what_does_not_go_with_it(refused, toy_keras, written):
    terms = written("terms.tsv", "# Toys\nhund\thound\n")
    arguments = ("translate", toy_keras, "--glossary", terms)
    line = refused(*arguments, "--n-best", 2, "--beam-size", 2, "--format", "tsv", stdin=b"a")
    assert line.endswith("Received: --glossary, with --n-best.")
    terms.write_text("hund hound\n")
    assert "where line 1 has 1 columns" in refused(*arguments, stdin=b"a")
