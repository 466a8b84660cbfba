"""A whole run, from text files to a translator in a folder."""

import contextlib
import dataclasses
import io
import json
import shutil
from pathlib import Path

import keras
import matplotlib.figure
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.training import Perplexity, Recipe, train, translation_dataset
from kformer.training.run import execution
from kformer.training.run.folder import clear
from support.disturbances import PowerCut, Spoil
from support.same_run import assert_same_run


def read(path):
    return json.loads(path.read_text("utf-8"))


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


def test_the_history_holds_every_metric_of_every_epoch(tiny_run, tiny_recipe):
    history = read(tiny_run[0] / "history.json")
    metrics = {"loss", "accuracy", "perplexity"}
    columns = {"epoch", "step", "tokens/s"}
    assert set(history) == metrics | {f"val_{name}" for name in metrics} | columns
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


def test_the_translator_is_that_of_the_last_epoch_if_it_was_the_best(tiny_run, parallel_text):
    folder, translator = tiny_run
    best = read(folder / "history.json")["val_perplexity"][-1]
    for one in (translator, kformer.load(folder / "translator.keras")):
        assert validation_perplexity(one, parallel_text) == pytest.approx(best, rel=1e-3)


def test_a_worse_epoch_does_not_replace_the_best_translator(again, parallel_text, tmp_path):
    translator = again(tmp_path, callbacks=[Spoil(epoch=1, factor=3)])
    first, second = read(tmp_path / "history.json")["val_perplexity"]
    assert second > 1.1 * first
    assert validation_perplexity(translator, parallel_text) == pytest.approx(first, rel=1e-3)


@pytest.fixture(scope="module")
def second_run(again, tmp_path_factory):
    """As `tiny_run`, with logs; and what it printed."""
    folder = tmp_path_factory.mktemp("second") / "run"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        translator = again(folder, tensorboard=True)
    return folder, translator, printed.getvalue()


def test_the_same_seed_gives_the_same_weights_to_the_bit(tiny_run, second_run):
    (_, first), (_, second, _) = tiny_run, second_run
    assert second.tokenizer.model == first.tokenizer.model
    weights = zip(first.transformer.get_weights(), second.transformer.get_weights(), strict=True)
    for one, other in weights:
        np.testing.assert_array_equal(one, other)
    # Nor does the seed of the second run change the first translator.
    text = ["der hund läuft"]
    assert first.translate(text) == second.translate(text)


def test_the_logs_for_tensorboard_hold_every_metric_of_every_epoch(second_run, tmp_path):
    folder = Path(shutil.copytree(second_run[0], tmp_path / "run"))
    events = list((folder / "logs").rglob("events.out.tfevents.*"))
    shown = {
        (path.parent.name, value.tag, event.step)
        for path in events
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    names = ["loss", "accuracy", "perplexity"]
    more = ["tokens/s", "learning_rate"]
    assert shown == {
        *(("train", f"epoch/{name}", i) for name in (*names, *more) for i in (1, 2)),
        *(("validation", f"epoch/{name}", i) for name in names for i in (1, 2)),
    }
    (folder / "logs" / "mine").touch()
    clear(folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_the_report_on_the_text_comes_before_the_first_step(second_run):
    lines = second_run[2].splitlines()
    assert lines[0].startswith("300 pairs;")
    assert next(i for i, line in enumerate(lines) if line.startswith("epoch 1/2 done")) > 5


def test_without_validation_the_last_epoch_is_kept_and_another_seed_gives_other_weights(
    again, tiny_run, tmp_path
):
    translator = again(tmp_path, seed=1, epochs=1, valid=False)
    columns = {"epoch", "step", "loss", "accuracy", "perplexity", "tokens/s"}
    assert columns == set(read(tmp_path / "history.json"))
    assert read(tmp_path / "run.json")["files"]["valid_source"] == []
    embedding = translator.transformer.source_embedding.get_weights()[0]
    assert np.any(embedding != tiny_run[1].transformer.source_embedding.get_weights()[0])


def test_divergence_is_an_error_with_the_step(again, tmp_path):
    with pytest.raises(FloatingPointError, match=r"must stay finite.* loss=nan at step 1\."):
        again(tmp_path, epochs=1, callbacks=[Spoil(epoch=0, factor=np.nan)])
    assert read(tmp_path / "run.json")["finished"] is False


@pytest.mark.prove
def test_later_divergence_leaves_the_best_translator(again, tmp_path):
    kept = f"last checkpoint is epoch-0001-batch-000000.npz. .* so far is {tmp_path}/translator"
    with pytest.raises(FloatingPointError, match=kept):
        again(tmp_path, callbacks=[Spoil(epoch=1, factor=np.nan)])
    assert kformer.load(tmp_path / "translator.keras").translate(["der hund"])
    assert len(read(tmp_path / "history.json")["loss"]) == 1


@pytest.mark.prove
def test_an_interrupted_run_stays_unfinished_and_is_resumed(again, tiny_run, tmp_path, capsys):
    """With files that have moved."""
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(tmp_path / "run", callbacks=[PowerCut(epoch=1)])
    assert read(tmp_path / "run" / "run.json")["finished"] is False
    assert len(read(tmp_path / "run" / "history.json")["loss"]) == 1
    (tmp_path / "run" / ".translator-0123abcd.keras").touch()  # As if it had been killed.
    again(tmp_path / "run")
    assert "Resuming after epoch 1.\n" in capsys.readouterr().out
    assert_same_run(tmp_path / "run", tiny_run[0])


def test_early_stopping_by_bleu_ends_the_run_and_keeps_the_best_epoch(
    again, parallel_text, tmp_path
):
    spoil = Spoil(epoch=1, factor=0)
    translator = again(tmp_path, epochs=9, patience=1, monitor="bleu", callbacks=[spoil])
    history = read(tmp_path / "history.json")
    assert len(history["val_bleu"]) == 2
    assert validation_perplexity(translator, parallel_text) == pytest.approx(
        history["val_perplexity"][0], rel=1e-3
    )
    assert read(tmp_path / "run.json")["finished"] is True


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
        with pytest.raises(FileExistsError, match="tiny', which holds a run that is finished"):
            again(folder, **numbers)
    assert before == {path: path.read_bytes() for path in folder.rglob("*.*")}


def test_numbers_that_are_refused_leave_an_earlier_run_unchanged(again, tiny_run):
    folder, _ = tiny_run
    with pytest.raises(ValueError, match="Received: vocab_size=270"):
        again(folder, overwrite=True, vocab_size=270)
    assert (folder / "translator.keras").exists()


def test_a_warm_start_takes_the_sizes_and_the_vocabulary_of_its_translator(
    parallel_text, tiny_run, tiny_recipe, tmp_path
):
    folder, first = tiny_run
    files = list(parallel_text.values())
    recipe = dataclasses.replace(
        tiny_recipe,
        d_model=8,  # The translator's replaces it.
        epochs=1,
    )
    translator = train(
        recipe, *files[:2], tmp_path, *files[2:], warm_start=folder / "translator.keras"
    )
    assert translator.tokenizer.model == first.tokenizer.model
    assert translator.transformer.source_embedding.d_model == tiny_recipe.d_model
    best = min(read(folder / "history.json")["val_perplexity"])
    assert read(tmp_path / "history.json")["val_perplexity"][0] < 1.1 * best
    assert len(read(tmp_path / "run.json")["options"]["warm_start"]) == 64


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
    execution._draw(history, tmp_path / "loss.png", "val_loss", "min")
    execution._draw(history, tmp_path / "bleu.png", "val_bleu", "max")
    execution._draw({"loss": [1]}, tmp_path / "none.png", "val_loss", "min")
    assert marked == [2, 2, None]
