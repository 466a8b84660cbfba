"""A whole run, from plain text to a language model in a folder."""

import dataclasses
import json

import keras
import numpy as np
import pytest

import kformer
from kformer import LanguageModel, Tokenizer
from kformer.text import vocabulary
from kformer.text.documents import DOCUMENTS, read_documents
from kformer.training import Recipe, language_dataset, train_language_model
from kformer.training.data.batching import BatchOptions
from kformer.training.kinds.language_learner import BitsPerByte, PackedWindows, new_language_model
from kformer.training.kinds.language_report import text_report
from kformer.training.kinds.language_task import prepare_language_model
from kformer.training.run.run_config import difference
from support.disturbances import PowerCut
from support.training.same_run import assert_same_run


@pytest.fixture(scope="module")
def recipe(tiny_recipe):
    return dataclasses.replace(
        tiny_recipe, norm_first=True, keep_best=2, average=2, label_smoothing=0.0
    )


@pytest.fixture(scope="module")
def trained(parallel_text, recipe):
    """Trains with `recipe` and some changes."""

    def trained(output, changes=(), **options):
        numbers = dataclasses.replace(recipe, **dict(changes))
        files = parallel_text["train.en"], output, parallel_text["valid.en"]
        return train_language_model(numbers, *files, **options)

    return trained


@pytest.fixture(scope="module")
def run(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    return folder, trained(folder)


@pytest.mark.prove
def test_the_folder_holds_what_that_of_a_translator_does(run, parallel_text):
    folder, model = run
    names = {"language_model.keras", "history.json", "history.png", "run.json", "checkpoints"}
    assert {path.name for path in folder.iterdir()} == names | {"models"}
    config = json.loads((folder / "run.json").read_text("utf-8"))
    assert (config["task"], config["lines"], config["finished"]) == (
        "language modelling",
        300,
        True,
    )
    history = json.loads((folder / "history.json").read_text("utf-8"))
    assert history["val_perplexity"][-1] < history["val_perplexity"][0]
    assert isinstance(model, LanguageModel)
    lines = parallel_text["valid.en"].read_text("utf-8").splitlines()
    tokens = len(lines) + len(model.tokenizer.tokenize(lines).flat_values)
    size = parallel_text["valid.en"].stat().st_size  # In bytes, the ends of the lines included.
    bits = np.log2(history["val_perplexity"]) * tokens / size
    np.testing.assert_allclose(history["val_bits_per_byte"], bits)


@pytest.mark.prove
def test_a_run_that_was_broken_off_ends_like_one_that_was_not(run, trained, tmp_path):
    with pytest.raises(ZeroDivisionError):
        trained(tmp_path / "run", callbacks=[PowerCut(1)])
    trained(tmp_path / "run")
    assert_same_run(tmp_path / "run", run[0], model="language_model.keras")


@pytest.mark.prove
def test_it_starts_from_another_language_model(trained, run, tmp_path):
    folder, model = run
    changes = {"epochs": 1, "learning_rate_scale": 1e-9, "keep_best": 0, "average": 0}
    tuned = trained(tmp_path / "run", changes, warm_start=folder / "language_model.keras")
    texts = ["i want a beer", "we sleep"]
    found, expected = (
        [one.log_probability for one in which.score(texts)] for which in (tuned, model)
    )
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.prove
def test_perplexity_in_training_is_that_of_scores(parallel_text, recipe, tokenizer):
    """Rows are long enough here that no document goes on in another row."""
    numbers = dataclasses.replace(recipe, max_length=2000, tokens_per_batch=2000)
    model = new_language_model(numbers, tokenizer)
    settings = {"max_length": 2000, "tokens_per_batch": 2000, "shuffle": False}
    batches = language_dataset(parallel_text["valid.en"], tokenizer, **settings)
    found = model.network.evaluate(batches, verbose=0, return_dict=True)["perplexity"]
    lines = parallel_text["valid.en"].read_text("utf-8").splitlines()
    assert found == pytest.approx(kformer.perplexity(model.score(lines)), rel=1e-4)
    assert isinstance(model.network, keras.Model)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"monitor": "bleu"}, "`monitor` must be one of loss"),
        ({"max_length_ratio": 2.0}, "A language model has no target.*max_length_ratio=2.0"),
        ({"noise": "typos=0.1"}, "would learn to write noise.*Received: noise='typos=0.1'"),
    ],
)
def test_what_does_not_fit_a_language_model_is_refused(parallel_text, tmp_path, changes, said):
    recipe = Recipe.named("quick", **changes)
    with pytest.raises(ValueError, match=said):
        prepare_language_model(
            recipe, parallel_text["train.en"], tmp_path / "run", parallel_text["valid.en"]
        )
    assert not (tmp_path / "run").exists()


def test_blank_text_and_models_of_other_kinds_are_refused(written, tiny_run, tmp_path):
    blank, recipe = written("blank.txt", "\n \n"), Recipe.named("quick")
    path = tiny_run[0] / "translator.keras"
    with pytest.raises(ValueError, match="Some text must be left"):
        prepare_language_model(recipe, blank, tmp_path / "run", tokenizer=path)
    with pytest.raises(ValueError, match=r"A language model is a \.keras file.*holds a translator"):
        prepare_language_model(
            recipe, written("text.txt", "wir\n"), tmp_path / "run", warm_start=path
        )


def report_on(files, valid, tokenizer, recipe, kind="line"):
    options = BatchOptions.for_training(recipe)
    windows = PackedWindows(tokenizer, files, kind, options)
    validation = [PackedWindows(tokenizer, [file], kind, options) for file in valid]
    return text_report(windows, validation, tokenizer, kind=kind)


def test_the_report_counts_documents_and_warns(written, recipe, tokenizer):
    text = written("a.txt", "wir\nwir\n\n" + "das haus ist alt\n" * 20)
    found = report_on([text], [text], tokenizer, recipe)
    assert (found.documents, found.blank, found.split, found.duplicates) == (22, 1, 0, 20)
    rows = tokenizer.with_end(tokenizer.tokenize(["wir"] * 2 + ["das haus ist alt"] * 20))
    assert found.tokens == len(rows.flat_values)
    assert (found.validation, found.seen) == (23, 22)
    said = " ".join(found.warnings())
    assert "sort -u" in said and "look better than it is" in said
    short = report_on([text], [], tokenizer, dataclasses.replace(recipe, max_length=4))
    assert short.split == 20 and "raise --max-length" in str(short)


def test_what_a_document_is_belongs_to_the_run(written, recipe, tokenizer, tmp_path):
    text = written("text.txt", "der hund\n  bellt\n\nwir\nschlafen\n" * 50)
    small = dataclasses.replace(recipe, vocab_size=290)
    runs = {
        kind: prepare_language_model(small, text, tmp_path / "run", documents=kind)
        for kind in DOCUMENTS
    }
    counts = [run.config.get("documents", run.config["lines"]) for run in runs.values()]
    assert counts == [250, 51, 1]
    assert runs["file"].config["options"]["documents"] == "file"
    assert difference(runs["file"].config, runs["line"].config) == (
        "with documents='file' instead of 'line'"
    )
    early = {**runs["line"].config, "options": {**runs["line"].config["options"]}}
    del early["options"]["documents"]
    assert difference(early, runs["line"].config) is None
    assert difference(early, runs["file"].config) == "with documents='line' instead of 'file'"
    tokenizer.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"keeps line breaks.*documents='file'"):
        prepare_language_model(
            small, text, tmp_path / "run", documents="file", tokenizer=tmp_path / "model"
        )
    with pytest.raises(ValueError, match="`documents` must be one of line, blank-line, file"):
        prepare_language_model(small, text, tmp_path / "run", documents="page")


@pytest.mark.prove
def test_the_report_counts_documents_of_several_lines(written, recipe):
    text = written("text.txt", "der hund\n  bellt\n\nwir\nschlafen\n\n" * 5)
    tokenizer = Tokenizer(vocabulary.learn(text, 400, at_most=True, line_breaks=True))
    found = report_on([text], [text], tokenizer, recipe, kind="blank-line")
    assert (found.documents, found.duplicates, found.validation, found.seen) == (10, 8, 10, 10)
    rows = tokenizer.with_end(tokenizer.tokenize(["der hund\n  bellt", "wir\nschlafen"]))
    assert found.tokens == 5 * len(rows.flat_values)
    assert str(found).startswith("10 documents, separated by blank lines, 0 of them longer")
    short = dataclasses.replace(recipe, max_length=4)
    whole = report_on([text, text], [], tokenizer, short, kind="file")
    assert (whole.documents, whole.split) == (2, 2)
    assert "raise --max-length" not in str(whole)


def test_bits_of_several_lines_count_each_byte(written):
    text = written("text.txt", "der hund\n  bellt\n\nwir\nschlafen\n")
    model = vocabulary.learn(text, 400, at_most=True, line_breaks=True)
    bits = BitsPerByte(read_documents(text, "blank-line"), model)
    assert bits.bytes == len("der hund\n  bellt\nwir\nschlafen\n")
    assert bits.tokens == sum(
        len(Tokenizer(model).encode([one])[0]) for one in read_documents(text, "blank-line")
    )
