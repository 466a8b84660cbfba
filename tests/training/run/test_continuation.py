"""Resumed runs: with the same settings, with other ones, and after their end."""

import dataclasses
import shutil

import keras
import numpy as np
import pytest

import kformer
from kformer import Tokenizer
from kformer.training import KeepBest, Recipe, StopWithoutImprovement, train
from kformer.training.run.run_config import difference
from support.disturbances import PowerCut, Spoil
from support.training.same_run import assert_same_run, read, weights_of


@pytest.fixture(scope="module")
def unfinished(again, made_once):
    """The folder of a run of 2 epochs that diverged in the second."""

    def run(folder):
        folder = folder / "run"
        kept = f"last checkpoint is epoch-0001-batch-000000.npz. .* so far is {folder}/translator"
        rule = "must stay finite"
        with pytest.raises(FloatingPointError, match=f"{rule}.*{kept}.* loss=nan at step"):
            again(folder, callbacks=[Spoil(epoch=1, factor=np.nan)])
        return folder

    return made_once("unfinished", run)


@pytest.fixture
def broken_off(unfinished, tmp_path):
    return shutil.copytree(unfinished, tmp_path / "run")


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*.*")}


class Rates(keras.callbacks.Callback):
    """Keeps the learning rate of each step."""

    def __init__(self):
        super().__init__()
        self.rates = []

    def on_train_batch_end(self, batch, logs=None):
        self.rates.append(float(self.model.optimizer.learning_rate))


@pytest.mark.prove
def test_divergence_leaves_the_best_translator(unfinished):
    assert kformer.load(unfinished / "translator.keras").translate(["der hund"])
    assert len(read(unfinished / "history.json")["loss"]) == 1
    assert read(unfinished / "run.json")["finished"] is False


@pytest.mark.prove
def test_a_run_is_not_resumed_with_a_changed_tokenizer(again, broken_off, parallel_text):
    path = broken_off / "checkpoints" / "tokenizer.model"
    Tokenizer.train(parallel_text["train.de"], 300).save(path)
    with pytest.raises(ValueError, match=f"Received: '{path}', which has changed"):
        again(broken_off)


@pytest.mark.prove
def test_a_run_of_other_settings_is_refused_with_the_differences(
    again, broken_off, parallel_text, tiny_recipe
):
    with pytest.raises(
        FileExistsError, match=r"which holds a run with dropout=0\.1 instead of 0\.2"
    ):
        again(broken_off, dropout=0.2)
    with pytest.raises(
        FileExistsError, match="a run with other text in --valid-source and --valid-target"
    ):
        again(broken_off, valid=False)
    source, target, *valid_files = parallel_text.values()
    with pytest.raises(FileExistsError, match=r"with weights=None instead of \[2.0\]"):
        train(tiny_recipe, source, target, broken_off, *valid_files, weights=[2.0])


@pytest.mark.prove
@pytest.mark.parametrize("overwrite", [False, pytest.param(True, marks=pytest.mark.prove)])
@pytest.mark.parametrize("lost", ["damaged", "deleted"])
def test_a_run_that_lost_its_checkpoints_is_refused_and_unchanged(
    again, broken_off, lost, overwrite
):
    checkpoints = broken_off / "checkpoints"
    for path in checkpoints.glob("epoch-*"):
        path.write_bytes(path.read_bytes()[:1000])
    if lost == "deleted":
        shutil.rmtree(checkpoints)
    before = content(broken_off)
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=r"none is left: .* --restart .*translator"):
            again(broken_off, overwrite=overwrite)
    after = content(broken_off)
    damaged = {path for path in after if path.name.startswith("damaged-")}
    assert len(damaged) == 2 * (lost == "damaged")
    for path in {*before} - {*checkpoints.iterdir()} if lost == "damaged" else before:
        if path.suffix != ".npz":
            assert after[path] == before[path]


@pytest.mark.prove
def test_a_run_that_lost_its_checkpoints_can_be_restarted(again, broken_off):
    shutil.rmtree(broken_off / "checkpoints")
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(broken_off, restart=True, callbacks=[PowerCut(epoch=0)])
    assert {path.name for path in broken_off.iterdir()} == {"run.json", "checkpoints"}
    with pytest.raises(ZeroDivisionError, match="power cut"):  # Nothing that could be lost.
        shutil.rmtree(broken_off / "checkpoints")
        again(broken_off, callbacks=[PowerCut(epoch=0)])


@pytest.mark.prove
def test_overwriting_resumes_an_unfinished_run_of_the_same_settings(
    again, broken_off, tiny_run, capsys
):
    (broken_off / ".translator-0123abcd.keras").touch()  # As if it had been killed.
    again(broken_off, overwrite=True)
    assert capsys.readouterr().out.startswith("Resuming after epoch 1.\n")
    assert_same_run(broken_off, tiny_run[0])


@pytest.mark.prove
def test_overwriting_replaces_an_unfinished_run_of_other_settings(again, broken_off):
    with pytest.raises(ZeroDivisionError, match="power cut"):
        again(broken_off, overwrite=True, dropout=0.2, callbacks=[PowerCut(epoch=0)])
    assert {path.name for path in broken_off.iterdir()} == {"run.json", "checkpoints"}
    left = {path.name for path in (broken_off / "checkpoints").iterdir()}
    assert left == {"tokenizer.model", "epoch-0000-batch-000000.npz"}  # Of the new run.
    assert read(broken_off / "run.json")["recipe"]["dropout"] == 0.2


@pytest.mark.prove
def test_changed_settings_are_printed_recorded_and_used(again, broken_off, tiny_run, capsys):
    rate = {"learning_rate_scale": 0.01, "warmup_steps": 80}
    rates = Rates()
    again(broken_off, **rate, patience=7, precision="bfloat16", callbacks=[rates])
    step = int(read(broken_off / "run.json")["changes"][0]["step"])
    assert capsys.readouterr().out.splitlines()[:5] == [
        "Resuming after epoch 1.",
        f"warmup_steps: 40 -> 80 from step {step}",
        f"learning_rate_scale: 1.0 -> 0.01 from step {step}",
        f"precision: float32 -> bfloat16 from step {step}",
        f"patience: 0 -> 7 from step {step}",
    ]
    record = read(broken_off / "run.json")
    assert record["finished"] and record["recipe"]["learning_rate_scale"] == 0.01
    changed = {"patience": [0, 7], "learning_rate_scale": [1.0, 0.01], "warmup_steps": [40, 80]}
    assert record["changes"] == [
        {"step": step, **changed, "precision": ["float32", "bfloat16"]},
    ]
    losses = [read(folder / "history.json")["loss"][0] for folder in (broken_off, tiny_run[0])]
    assert losses[0] == losses[1]  # Of the epoch before the change.
    # Section 5.3 of the paper: a short run rises sooner, to the same highest rate, and keeps it.
    highest = 0.01 * 16**-0.5 * 80**-0.5
    assert rates.rates == sorted(rates.rates)
    np.testing.assert_allclose(rates.rates[-4:], highest, rtol=1e-5)


@pytest.mark.prove
def test_an_extended_run_equals_one_that_was_longer_from_the_start(
    again, tiny_run, tmp_path, capsys
):
    run = shutil.copytree(tiny_run[0], tmp_path / "run")
    again(run, epochs=3)
    said = capsys.readouterr().out
    assert said.startswith("Resuming after epoch 2.\nepochs: 2 -> 3 from step ")
    again(tmp_path / "long", epochs=3)
    step = int(said.splitlines()[1].split()[-1])
    assert_same_run(run, tmp_path / "long", changes=[{"step": step, "epochs": [2, 3]}])


def test_a_finished_run_without_its_checkpoints_cannot_be_extended(again, tiny_run, tmp_path):
    run = shutil.copytree(tiny_run[0], tmp_path / "run")
    shutil.rmtree(run / "checkpoints")
    before = content(run)
    with pytest.raises(FileNotFoundError, match=r"--warm-start\. Received: '.*/checkpoints'"):
        again(run, epochs=3)
    with pytest.raises(FileExistsError, match="which holds a run that is finished"):
        again(run)
    assert content(run) == before


@pytest.mark.prove
def test_more_patience_extends_a_run_that_stopped_early(again, tmp_path):
    spoilt = {"epochs": 3, "callbacks": [Spoil(epoch=1, factor=50)]}
    again(tmp_path / "run", patience=1, **spoilt)
    assert len(read(tmp_path / "run" / "history.json")["loss"]) == 2
    with pytest.raises(FileExistsError, match="more --patience continue a finished one, and --ov"):
        again(tmp_path / "run", patience=1, epochs=3)
    again(tmp_path / "run", patience=5, epochs=3)
    assert len(read(tmp_path / "run" / "history.json")["loss"]) == 3


@pytest.mark.prove
def test_more_epochs_extend_a_run_that_stopped_early_as_if_it_had_not(again, tmp_path):
    run, other, spoil = tmp_path / "run", tmp_path / "other", [Spoil(epoch=1, factor=50)]
    again(run, epochs=3, patience=1, callbacks=spoil)
    assert read(run / "history.json")["epoch"] == [1, 2]
    with pytest.raises(FileExistsError, match="which holds a run that is finished"):
        again(run, epochs=2, patience=1)
    again(run, epochs=4, patience=1)
    again(other, epochs=3, patience=9, callbacks=spoil)
    histories = [read(folder / "history.json") for folder in (run, other)]
    assert histories[0]["epoch"] == [1, 2, 3]  # The patience was over once more.
    for history in histories:
        del history["tokens/s"]
    assert histories[0] == histories[1]
    np.testing.assert_equal(weights_of(run), weights_of(other))


@pytest.mark.parametrize("within_epochs", [False, pytest.param(True, marks=pytest.mark.prove)])
def test_a_run_that_its_hours_ended_continues_as_if_it_had_not(
    again, tiny_run, tmp_path, capsys, within_epochs
):
    run, whole, numbers = tmp_path / "run", tiny_run[0], {}
    if within_epochs:
        numbers = {"validate_every": 3, "average": 2, "keep_best": 2}
        again(whole := tmp_path / "whole", **numbers)
    again(run, **numbers, max_hours=1e-6)
    epoch = read(run / "history.json")["epoch"][-1]
    assert epoch < 1 if within_epochs else epoch == 1
    printed = (
        f"The time was over after epoch {epoch:.4g} of 2: the same command with a higher --max"
    )
    assert printed in capsys.readouterr().out
    assert read(run / "run.json")["finished"] is False
    assert kformer.load(run / "translator.keras").translate(["der hund"])
    before = content(run)
    for options in {"max_hours": 1e-6}, {"max_hours": 1e-7, "overwrite": True}:
        with pytest.raises(FileExistsError, match=r"with a higher --max-hours .* max_hours=1e-0"):
            again(run, **numbers, **options)
    assert content(run) == before
    again(run, **numbers, max_hours=9.0)
    assert_same_run(run, whole)


@pytest.mark.parametrize(
    "number, usual, other",
    [
        ("optimizer", "adam", "muon"),
        ("noise", "none", "typos=0.1"),
        ("consistency", "none", "rdrop"),
        ("decoder_cell", "attention", "ssru"),
        ("pieces", "unigram", None),  # Of the vocabulary, which the run has.
        ("seed", None, 0),
    ],
)
def test_a_run_of_a_version_without_a_number_had_its_usual_value(number, usual, other):
    def config(**numbers):
        recipe = dataclasses.asdict(Recipe.named("tiny", **numbers))
        return {"recipe": recipe, "options": {}, "sha256": {}}

    earlier = config()
    del earlier["recipe"][number]
    if usual is not None:
        assert difference(earlier, config(**{number: usual})) is None
    if other is not None:
        received = f"with {number}={usual!r} instead of {other!r}"
        assert difference(earlier, config(**{number: other})) == received


def test_patience_that_was_over_counts_anew():
    stop = StopWithoutImprovement(3)
    for waited, expected in (2, 2), (3, 0):
        stop.set_state({"monitor": "val_loss", "best": 1.0, "waited": waited})
        assert stop.waited == expected


def test_another_monitored_score_is_compared_with_that_of_the_saved_translator():
    class Nothing:
        saved = 0

        def save(self, path, include_optimizer=False):
            self.saved += 1

    callback = KeepBest(Nothing(), "best.keras", "val_bleu", "max")
    callback.on_epoch_end(0, {"loss": 9.0, "val_loss": 3.0, "val_bleu": 20.0})
    other = KeepBest(Nothing(), "best.keras", "val_loss", "min")
    other.set_state(callback.get_state())
    for loss in (4.0, 2.0):
        other.on_epoch_end(1, {"val_loss": loss})
    assert other.translator.saved == 1
    back = KeepBest(Nothing(), "best.keras", "val_bleu", "max")
    back.set_state(other.get_state())
    back.on_epoch_end(2, {"val_bleu": 1.0})  # That of the saved one is unknown.
    assert back.translator.saved == 1


def test_another_monitored_score_resets_early_stopping():
    state = {"monitor": "val_loss", "best": 1.0, "waited": 4}
    one, other = StopWithoutImprovement(5), StopWithoutImprovement(5, "val_bleu", "max")
    one.set_state(state)
    other.set_state(state)
    assert (one.waited, other.waited) == (4, 0)
    assert (one.best, other.best) == (1.0, float("-inf"))
