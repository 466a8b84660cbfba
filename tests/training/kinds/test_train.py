"""A whole run, from text files to a translator in a folder."""

import contextlib
import dataclasses
import io
import shutil
from pathlib import Path

import keras
import matplotlib.figure
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.training import Perplexity, Recipe, train, translation_dataset
from kformer.training.recipes.pace import pace_of
from kformer.training.run.history_picture import draw_history
from kformer.training.run.outcome import useless_translator
from kformer.training.run.run_folder import clear
from support.disturbances import Spoil
from support.training.same_run import read


def test_the_folder_holds_the_translator_its_history_and_the_run_config(tiny_run):
    folder, _ = tiny_run
    assert {path.name for path in folder.iterdir()} == {
        "translator.keras",
        "history.json",
        "history.png",
        "run.json",
        "checkpoints",
    }
    assert {path.name for path in (folder / "checkpoints").iterdir()} == {
        "epoch-0002-batch-000000.npz",  # To extend the run.
        "tokenizer.model",
    }


def test_the_run_config_holds_the_recipe_and_the_files(tiny_run, tiny_recipe, parallel_text):
    config = read(tiny_run[0] / "run.json")
    assert Recipe(**config["recipe"]) == tiny_recipe
    assert config["files"] == {
        "source": [str(parallel_text["train.de"])],
        "target": [str(parallel_text["train.en"])],
        "valid_source": [str(parallel_text["valid.de"])],
        "valid_target": [str(parallel_text["valid.en"])],
    }
    assert config["pairs"] == 300
    assert config["finished"] is True


def test_a_run_that_has_learned_too_little_is_recorded_as_of_no_use(tiny_run, parallel_text):
    folder, translator = tiny_run
    sources, references = (
        parallel_text[f"valid.{language}"].read_text("utf-8").splitlines()
        for language in ("de", "en")
    )
    scores = kformer.bleu(translator.translate(sources), references).value, 0.0
    assert useless_translator(*scores, None)
    assert read(folder / "run.json")["useful"] is False


def test_the_history_holds_every_metric_of_every_epoch(tiny_run, tiny_recipe):
    history = read(tiny_run[0] / "history.json")
    metrics = {"loss", "accuracy", "perplexity"}
    columns = {"epoch", "step", "tokens/s"}
    assert set(history) == metrics | {f"val_{name}" for name in metrics} | columns
    rise = pace_of(tiny_recipe, history["step"][0]).rising_steps
    assert read(tiny_run[0] / "run.json")["rising_steps"] == rise < 40
    assert history["epoch"] == [1, 2]
    assert history["step"][1] == 2 * history["step"][0]
    assert all(len(values) == tiny_recipe.epochs for values in history.values())
    assert all(speed > 0 for speed in history["tokens/s"])
    assert history["val_perplexity"][1] < history["val_perplexity"][0] < tiny_recipe.vocab_size


def validation_perplexity(translator, parallel_text):
    perplexity = Perplexity()
    files = parallel_text["valid.de"], parallel_text["valid.en"]
    for inputs, target in translation_dataset(*files, translator.tokenizer, max_length=48):
        perplexity.update_state(target, translator.transformer(inputs))
    return float(perplexity.result())


@pytest.mark.prove
def test_the_translator_is_that_of_the_last_epoch_if_it_was_the_best(tiny_run, parallel_text):
    folder, translator = tiny_run
    best = read(folder / "history.json")["val_perplexity"][-1]
    assert validation_perplexity(translator, parallel_text) == pytest.approx(best, rel=1e-3)
    saved = kformer.load(folder / "translator.keras").transformer.get_weights()
    np.testing.assert_equal(translator.transformer.get_weights(), saved)


@pytest.fixture(scope="module")
def stopped_run(again, tmp_path_factory):
    """A run that got worse in its second epoch: folder, translator and what it printed."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    numbers = {"epochs": 9, "patience": 1, "monitor": "bleu", "seed": 1}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        translator = again(folder, **numbers, tensorboard=True, callbacks=[Spoil(1, factor=0)])
    return folder, translator, printed.getvalue()


@pytest.mark.prove
def test_early_stopping_by_bleu_ends_the_run_and_keeps_the_best_epoch(stopped_run, parallel_text):
    folder, translator, _ = stopped_run
    history = read(folder / "history.json")
    assert len(history["val_bleu"]) == 2
    assert validation_perplexity(translator, parallel_text) == pytest.approx(
        history["val_perplexity"][0], rel=1e-3
    )
    assert read(folder / "run.json")["finished"] is True


@pytest.mark.prove
def test_chrf_chooses_the_model_and_the_language_chooses_the_tokenizer_of_bleu(
    again, parallel_text, tmp_path
):
    numbers = {"epochs": 2, "monitor": "chrf", "seed": 1}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        given = {"target_language": "th", "callbacks": [Spoil(1, factor=0)]}
        translator = again(tmp_path / "run", **numbers, **given)
    history = read(tmp_path / "run" / "history.json")
    best = int(np.argmax(history["val_chrf"]))
    assert history["val_chrf"][0] != history["val_chrf"][1]
    sources, targets = (
        parallel_text[f"valid.{side}"].read_text("utf-8").splitlines() for side in ("de", "en")
    )
    translations = translator.translate(sources, batch_size=64, split=False)
    assert history["val_chrf"][best] == kformer.chrf(translations, targets).value
    of_bleu = kformer.bleu(translations, targets, language="th")
    assert history["val_bleu"][best] == of_bleu.value
    assert f"val_bleu: {of_bleu.signature}\n" in printed.getvalue()
    assert translator.target_language == "th"
    with pytest.raises(FileExistsError, match="holds a run that is finished"):
        again(tmp_path / "run", **numbers, target_language="th", tokenize="zh")


@pytest.mark.prove
def test_another_seed_trains_differently(stopped_run, tiny_run):
    one, other = (read(run[0] / "history.json")["loss"] for run in (stopped_run, tiny_run))
    assert one[0] != other[0]


@pytest.mark.prove
def test_the_logs_for_tensorboard_hold_every_metric_of_every_epoch(stopped_run, tmp_path):
    folder = Path(shutil.copytree(stopped_run[0], tmp_path / "run"))
    events = list((folder / "logs").rglob("events.out.tfevents.*"))
    shown = {
        (path.parent.name, value.tag, event.step)
        for path in events
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    names = ["loss", "accuracy", "perplexity"]
    more = {"train": ["tokens/s", "learning_rate"], "validation": ["bleu", "chrf"]}
    assert shown == {
        (part, f"epoch/{name}", i) for part in more for name in names + more[part] for i in (1, 2)
    }
    (folder / "logs" / "mine").touch()
    clear(folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


@pytest.mark.prove
def test_the_report_on_the_text_comes_before_the_first_step(stopped_run):
    lines = stopped_run[2].splitlines()
    assert lines[0].startswith("300 pairs;")
    assert next(i for i, line in enumerate(lines) if line.split()[:1] == ["1/9"]) > 5


@pytest.mark.prove
def test_bfloat16_learns_about_the_same_and_the_saved_model_is_float32(again, tiny_run, tmp_path):
    translator = again(tmp_path, precision="bfloat16")
    assert translator.transformer.dtype_policy.name == "float32"
    assert keras.config.dtype_policy().name == "float32"
    losses = [read(folder / "history.json")["loss"] for folder in (tmp_path, tiny_run[0])]
    assert losses[0] != losses[1]
    np.testing.assert_allclose(*losses, rtol=0.02)


def test_a_finished_run_is_only_overwritten_on_request(again, tiny_run):
    folder, _ = tiny_run
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    for numbers in ({}, {"epochs": 1}, {"learning_rate_scale": 0.5}):  # Nothing is left to train.
        with pytest.raises(FileExistsError, match="run', which holds a run that is finished"):
            again(folder, **numbers)
    assert before == {path: path.read_bytes() for path in folder.rglob("*.*")}


def test_numbers_that_are_refused_leave_an_earlier_run_unchanged(again, tiny_run):
    folder, _ = tiny_run
    with pytest.raises(ValueError, match="Received: vocab_size=270"):
        again(folder, overwrite=True, vocab_size=270)
    assert (folder / "translator.keras").exists()


@pytest.fixture(scope="module")
def warm_run(parallel_text, tiny_run, tiny_recipe, tmp_path_factory):
    """A run of an epoch without validation that starts from `tiny_run`: folder and translator."""
    folder, files = tmp_path_factory.mktemp("warm"), list(parallel_text.values())
    recipe = dataclasses.replace(tiny_recipe, d_model=8, epochs=1)  # Its own d_model is replaced.
    path = tiny_run[0] / "translator.keras"
    return folder, train(recipe, *files[:2], folder, warm_start=path)


@pytest.mark.prove
def test_a_warm_start_takes_the_sizes_and_the_vocabulary_of_its_translator(
    warm_run, tiny_run, tiny_recipe
):
    (folder, translator), (first_folder, first) = warm_run, tiny_run
    assert translator.tokenizer.model == first.tokenizer.model
    assert translator.transformer.source_embedding.d_model == tiny_recipe.d_model
    before, after = (read(path / "history.json")["loss"] for path in (first_folder, folder))
    assert after[0] < before[-1]
    assert len(read(folder / "run.json")["options"]["warm_start"]) == 64


@pytest.mark.prove
def test_without_validation_the_last_epoch_is_kept(warm_run):
    folder, translator = warm_run
    columns = {"epoch", "step", "loss", "accuracy", "perplexity", "tokens/s"}
    assert columns == set(read(folder / "history.json"))
    assert read(folder / "run.json")["files"]["valid_source"] == []
    saved = kformer.load(folder / "translator.keras")
    np.testing.assert_equal(saved.transformer.get_weights(), translator.transformer.get_weights())


@pytest.mark.prove
def test_a_warm_start_may_learn_a_new_vocabulary(parallel_text, tiny_run, tiny_recipe, tmp_path):
    files = list(parallel_text.values())
    recipe = dataclasses.replace(tiny_recipe, epochs=1, vocab_size=350)
    path = tiny_run[0] / "translator.keras"
    translator = train(recipe, *files[:2], tmp_path, warm_start=path, new_vocabulary=True)
    assert translator.tokenizer.vocab_size == translator.transformer.get_config()["vocab_size"]
    assert translator.tokenizer.vocab_size == 350
    assert translator.translate(["der hund"])


def test_the_picture_marks_the_best_epoch(monkeypatch, tmp_path):
    marked = []

    def plot_history(history, best):
        marked.append(best)
        return matplotlib.figure.Figure()

    monkeypatch.setattr("kformer.plot.plot_history", plot_history)
    history = {"loss": [3, 2, 1, 1], "val_loss": [3, 1, np.nan, 2], "val_bleu": [3, 9, 9, 4]}
    draw_history(history, "loss", tmp_path / "loss.png")
    draw_history(history, "bleu", tmp_path / "bleu.png")
    draw_history({"loss": [1]}, "loss", tmp_path / "none.png")
    assert marked == [2, 2, None]
