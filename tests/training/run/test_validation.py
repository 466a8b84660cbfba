"""Validation within an epoch, the best models in files, and their average."""

import json
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import kformer
from kformer.training import TokensPerSecond
from kformer.training.callbacks import training_log as speed
from kformer.training.callbacks.stopping import StopWithoutImprovement
from kformer.training.resumption.saving import EverySteps
from kformer.training.run.kept_models import KeepModels
from kformer.training.run.validation import MeanOfTexts, names_of_texts
from support.training.same_run import assert_same_run, read

EVERY = 6  # Steps, of the 16 in an epoch.
OFTEN = {"validate_every": EVERY, "keep_best": 2, "average": 3, "patience": 9}


class At(keras.callbacks.Callback):
    """Breaks off after a step."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def on_train_batch_end(self, batch, logs=None):
        if int(self.model.optimizer.iterations) == self.step:
            raise ZeroDivisionError("power cut")


@pytest.fixture(scope="module")
def often(again, tmp_path_factory):
    folder = tmp_path_factory.mktemp("often") / "run"
    return folder, again(folder, **OFTEN)


@pytest.mark.prove
def test_the_history_has_a_row_for_every_validation(often, tiny_run):
    history, plain = read(often[0] / "history.json"), read(tiny_run[0] / "history.json")
    steps = plain["step"][0]
    within = [*range(EVERY, 2 * steps, EVERY)]
    assert history["step"] == sorted({*within, steps, 2 * steps})
    assert history["epoch"] == [step / steps for step in history["step"]]
    assert {len(values) for values in history.values()} == {len(history["step"])}
    ends = [history["step"].index(step) for step in plain["step"]]
    for name in ("val_loss", "val_accuracy"):  # Looking at the model does not change it.
        assert [history[name][i] for i in ends] == plain[name]


@pytest.mark.prove
def test_training_metrics_are_those_since_the_previous_validation(often, tiny_run):
    history, plain = read(often[0] / "history.json"), read(tiny_run[0] / "history.json")
    loss = history["loss"][: history["step"].index(plain["step"][0]) + 1]
    assert min(loss) < plain["loss"][0] < max(loss)
    assert loss[-1] == min(loss)


@pytest.mark.prove
def test_a_run_with_validations_within_its_epochs_is_resumed_exactly(again, often, tmp_path):
    for step in (EVERY + 2, 2 * EVERY):  # After one; and after the batch, but before the other.
        with pytest.raises(ZeroDivisionError, match="power cut"):
            again(tmp_path / "run", **OFTEN, callbacks=[At(step)])
    again(tmp_path / "run", **OFTEN)
    assert_same_run(tmp_path / "run", often[0])


@pytest.mark.prove
def test_the_best_models_and_the_last_are_kept_and_their_average_is_compared(often):
    folder, _ = often
    history, record = read(folder / "history.json"), read(folder / "run.json")
    order = np.argsort(history["val_loss"], kind="stable")
    best = [f"step-{history['step'][i]:08}.keras" for i in order[:3]]
    last = f"step-{history['step'][-1]:08}.keras"
    names = {path.name for path in (folder / "models").iterdir()}
    assert names == {*best, last, "average.keras"}
    said = record["average"]
    assert said["models"] == best
    assert said["best"] == min(history["val_loss"])
    assert said["better"] == (said["val_loss"] < said["best"])
    chosen = folder / "models" / ("average.keras" if said["better"] else best[0])
    assert chosen.read_bytes() == (folder / "translator.keras").read_bytes()
    averages = kformer.load(folder / "models" / "average.keras").transformer.get_weights()
    models = [kformer.load(folder / "models" / name).transformer.get_weights() for name in best]
    for average, *weights in zip(averages, *models, strict=True):
        np.testing.assert_allclose(average, np.mean(weights, axis=0), rtol=1e-5, atol=1e-7)


@pytest.mark.prove
def test_more_patience_extends_a_run_that_stopped_within_an_epoch(again, often, tmp_path, capsys):
    run = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        judge = StopWithoutImprovement.on_validation
        patch.setattr(
            StopWithoutImprovement,
            "on_validation",
            lambda self, epoch, logs: judge(
                self, epoch, {**logs, "val_loss": logs["val_loss"] + 9 * (epoch > 0.4)}
            ),
        )
        again(run, **{**OFTEN, "patience": 1})
    history = read(run / "history.json")
    assert history["step"] == [EVERY, 2 * EVERY]
    assert read(run / "run.json")["finished"]
    capsys.readouterr()
    again(run, **OFTEN)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"Resuming in epoch 1, after batch {2 * EVERY} of 16."
    assert read(run / "history.json")["step"] == read(often[0] / "history.json")["step"]
    for name in ("loss", "val_loss"):
        assert read(run / "history.json")[name] == read(often[0] / "history.json")[name]


def model_at(step):
    """As much of a model as a callback needs that counts steps."""
    return SimpleNamespace(optimizer=SimpleNamespace(iterations=step))


def test_steps_are_due_once_with_gradient_accumulation():
    model = model_at(0)

    def run(every, steps):
        due = []
        for i, step in enumerate(steps):
            model.optimizer.iterations = step
            due += [i] * every.due(model)
        return due

    every = EverySteps(3)
    every.begin(model)
    assert run(every, [0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 6, 7]) == [5, 10]
    model.optimizer.iterations = 6
    every.begin(model)  # At the step where training resumes, nothing is due.
    assert run(every, [6, 6, 7, 8, 9]) == [4]
    assert run(EverySteps(0), [1, 2, 3]) == []


class Saved:
    def save(self, path, include_optimizer=False):
        path.parent.mkdir(exist_ok=True)
        path.touch()


def kept_models(folder, number, scores, state=None, mode="min"):
    """What `KeepModels` keeps of models of these scores, with a step each."""
    callback = KeepModels(Saved(), folder, number, "val_loss", mode)

    model = model_at(0)

    callback.set_model(model)
    for step, score in enumerate(scores, start=1):
        model.optimizer.iterations = step
        callback.on_validation(step, {} if score is None else {"val_loss": score})
        before = {path.name for path in folder.iterdir()}
        callback.on_checkpoint()
        state = json.loads(json.dumps(callback.get_state()))
        callback.set_state(state)
        assert {path.name for path in folder.iterdir()} <= before
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob("*")), callback.best()


@pytest.mark.parametrize(
    ("number", "mode", "scores", "files", "best"),
    [
        (2, "min", [5.0, 3.0, 4.0, 2.0, 9.0], [2, 4, 5], [4, 2]),
        (2, "max", [5.0, 3.0, 4.0, 2.0, 1.0], [1, 3, 5], [1, 3]),
        (2, "min", [5.0, 5.0, 5.0], [1, 2, 3], [1, 2]),
        (2, "min", [float("nan"), 7.0, float("nan"), 6.0], [2, 4], [4, 2]),
        (2, "min", [None, None, None], [2, 3], [3, 2]),
    ],
)
def test_the_best_models_and_the_last_are_kept(tmp_path, number, mode, scores, files, best):
    assert kept_models(tmp_path, number, scores, mode=mode) == (files, best)


def test_a_model_is_deleted_only_after_a_checkpoint_without_it(tmp_path):
    callback = KeepModels(Saved(), tmp_path, 1)

    model = model_at(1)
    callback.set_model(model)
    callback.on_validation(1, {"val_loss": 2.0})
    state = callback.get_state()
    model.optimizer.iterations = 2
    callback.on_validation(2, {"val_loss": 1.0})
    assert len([*tmp_path.iterdir()]) == 2  # A run killed here resumes from the state before.
    (tmp_path / ".step-00000003-0123abcd.keras").touch()
    callback.on_checkpoint()
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000002.keras"]
    assert state == [[1, {"val_loss": 2.0}]]


def test_the_speed_excludes_the_time_of_validation(monkeypatch):
    clock = iter([100.0, 102.0, 500.0, 501.0])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
    callback = TokensPerSecond()
    callback.on_epoch_begin(0)
    callback.on_train_batch_begin(0)
    callback.on_train_batch_end(0, logs := {"tokens": 600.0})
    callback.on_validation(0.5, logs := {**logs, "val_tokens": 7.0})
    assert logs == {"tokens/s": 300.0}
    assert callback.get_state() == 0.0
    callback.on_train_batch_begin(1)
    callback.on_train_batch_end(1, logs := {"tokens": 50.0})
    assert logs == {"tokens/s": 50.0}


def test_the_mean_over_the_directions_is_monitored():
    logs = {"loss": 9.0, "val_loss": 1.0, "val_tokens": 7.0, "val_bleu": 10.0}
    logs |= {"val_en-de_loss": 4.0, "val_en-de_bleu": 40.0}
    MeanOfTexts(["de-en", "en-de"]).on_validation(1, logs)
    assert logs == {
        "loss": 9.0,
        "val_loss": 2.5,
        "val_tokens": 7.0,
        "val_bleu": 25.0,
        "val_de-en_loss": 1.0,
        "val_en-de_loss": 4.0,
        "val_de-en_bleu": 10.0,
        "val_en-de_bleu": 40.0,
    }


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["val.de", "terms.de.gz"], ["val", "terms"]),
        (["a/val.de", "b/val.de", ".val"], ["val_1", "val_2", "val_3"]),
    ],
)
def test_a_validation_text_has_the_name_of_its_file(files, names):
    assert names_of_texts(files) == names
