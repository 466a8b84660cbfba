"""`kformer lm`: train, generate, score; and the exports of a language model."""

import json
import math

import pytest

import kformer
from kformer import SearchOptions
from support import toy

PROMPTS = [text[:14] for text in toy.SOURCES[:9]]
STDIN = "".join(f"{prompt}\n" for prompt in PROMPTS).encode()


@pytest.fixture
def saved(tiny_language_model, tmp_path):
    path = tmp_path / "language_model.keras"
    tiny_language_model.save(path)
    return path


@pytest.mark.prove
def test_each_line_is_continued(command, saved, tiny_language_model):
    result = command("lm", "generate", saved, stdin=STDIN)
    assert result.returncode == 0  # The small model may repeat itself, which is reported.
    assert all(line.startswith("kformer: Line ") for line in result.stderr.splitlines())
    assert result.stdout.splitlines() == tiny_language_model.generate(PROMPTS)


@pytest.mark.prove
def test_options_reach_the_search_and_json_tells_everything(command, saved, tiny_language_model):
    options = ("--sample", "--n-best", 2, "--seed", 5, "--max-length", 4)
    result = command("lm", "generate", saved, *options, "--format", "jsonl", stdin=STDIN)
    assert result.returncode == 0 and "largest length" not in result.stderr
    search = SearchOptions(sample=True, n_best=2, seed=5, max_length=4)
    expected = [one for row in tiny_language_model.generations(PROMPTS, search) for one in row]
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["text"] for row in rows] == [one.text for one in expected]
    assert [tuple(row["prompt_tokens"]) for row in rows] == [one.prompt_tokens for one in expected]
    assert [row["line"] for row in rows[:3]] == [1, 1, 2]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (b"wir\n\nuns\n", "A prompt must have text. Received: line 2, which is blank."),
        (b"wir\n \t\n", "Received: line 2, which is blank."),
        (b"wir\n" + b"wir " * 40, "A prompt may have 23 ids, one less than `max_length`."),
    ],
)
def test_prompts_without_text_or_room_are_refused(refused, saved, tmp_path, prompts, said):
    assert said in refused("lm", "generate", saved, "--output", tmp_path / "o", stdin=prompts)


@pytest.mark.prove
def test_the_number_of_a_line_counts_from_the_first(command, saved, monkeypatch):
    monkeypatch.setattr("kformer.cli.terminal.line_streams.CHUNK", 2)
    stdin = b"a\nb\nc\n" + b"wir " * 40
    result = command("lm", "generate", saved, "--output", saved.with_name("o"), stdin=stdin)
    assert result.returncode == 2 and not saved.with_name("o").exists()
    assert "Received: line 4 of " in result.stderr.splitlines()[-1]


@pytest.mark.prove
def test_scores_are_those_of_python(command, saved, written, tiny_language_model):
    text = written("text", "".join(f"{line}\n" for line in toy.SOURCES[:9]))
    scored = tiny_language_model.score(toy.SOURCES[:9])
    result = command("lm", "score", saved, "--text", text)
    lines = [f"{one.log_probability:.4f}\t{one.mean:.4f}" for one in scored]
    assert result.stdout.splitlines() == lines
    result = command("lm", "score", saved, "--text", text, "--summary")
    first, second = result.stdout.splitlines()
    assert first.startswith(f"perplexity  {kformer.perplexity(scored):.2f}  of ")
    bits = -sum(one.log_probability for one in scored) / math.log(2)
    size = text.stat().st_size
    assert second.split()[1] == f"{bits / size:.4f}" and f"per byte of {size}," in second
    characters = len(text.read_text("utf-8"))
    assert second.endswith(f"{bits / characters:.4f}  per character of {characters}")


@pytest.mark.prove
def test_training_ends_with_a_language_model_and_a_dry_run_with_nothing(
    command, parallel_text, tmp_path
):
    output, text = tmp_path / "run", parallel_text["train.en"]
    numbers = ["--recipe", "quick", "--vocab-size", 320, "--epochs", 1]
    arguments = ["lm", "train", "--text", text, "--output", output, *numbers]
    dry = command(*arguments, "--dry-run")
    assert dry.returncode == 0 and not output.exists()
    assert dry.stdout.startswith("300 documents, ")
    assert "without padding" in dry.stdout
    result = command(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    path = output / "language_model.keras"
    assert result.stdout.splitlines()[-1] == f"The language model is {path}"
    assert " ppl " in result.stdout and kformer.load(path).max_length == 64


@pytest.mark.prove
def test_an_export_is_checked_on_the_beginnings_of_its_text(
    command, saved, parallel_text, tiny_language_model, tmp_path
):
    recorded = {"files": {"valid_text": [str(parallel_text["valid.en"])]}}
    (tmp_path / "run.json").write_text(json.dumps(recorded))
    forms = tmp_path / "served", tmp_path / "lm.tflite"
    result = command("export", saved, "--saved-model", forms[0], "--tflite", forms[1])
    assert result.returncode == 0, result.stderr
    head, *table, _, _ = result.stdout.splitlines()
    assert head.split() == ["form", "MB", "as", "Python"]
    assert [row.split()[0] for row in table] == ["Python", "SavedModel", ".tflite"]
    assert all(row.endswith("40 of 40") for row in table)
    expected = tiny_language_model.generate(PROMPTS)
    for form in forms:
        result = command("lm", "generate", form, stdin=STDIN)
        assert result.stdout.splitlines() == expected


@pytest.mark.parametrize("options", [("--web", "page"), ("--target-language", "en")])
def test_it_has_neither_a_target_nor_a_web_page(refused, saved, tmp_path, options):
    message = refused("export", saved, "--tflite", tmp_path / "c.tflite", *options)
    assert "A language model has neither" in message
    assert f"Received: {options[0]} with '{saved}'" in message


def test_other_models_continue_nothing_and_it_translates_nothing(refused, saved, toy_keras):
    line = refused("lm", "generate", toy_keras, stdin=b"wir\n")
    assert "must be able to generate" in line and line.endswith("which holds a Translator.")
    line = refused("translate", saved, stdin=b"wir\n")
    assert "must be able to translate" in line and line.endswith("which holds a LanguageModel.")


@pytest.mark.prove
def test_options_of_a_search_are_for_a_keras_file(refused, tmp_path, language_model_tflite):
    line = refused("lm", "generate", language_model_tflite(), "--sample", stdin=b"wir\n")
    assert "Received: --sample with" in line


def test_a_demo_is_of_one_model(refused, tmp_path):
    line = refused("demo", "--lm", "--classifier", "--output", tmp_path / "demo")
    assert "Received: --classifier and --lm" in line
