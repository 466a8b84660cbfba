"""A resumed fit, with a small model instead of a Transformer."""

import os
import signal
import threading
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.training import (
    AveragedAdam,
    Interrupted,
    KeepHistory,
    MaskedAccuracy,
    MaskedCrossEntropy,
    StopWhenDiverged,
    StopWithoutImprovement,
    WithAverage,
    resumable_fit,
)
from kformer.training.resumption.checkpoint import newest_checkpoint
from kformer.training.resumption.variables import build

PAIRS, BATCH = 35, 5  # 7 batches.
INPUTS = np.random.RandomState(0).normal(size=(PAIRS, 3)).astype("float32")
TARGETS = INPUTS @ np.float32([[1.0], [-2.0], [3.0]])


class Session:
    """What a process would have: a model, its data and callbacks, on a folder for its run."""

    def __init__(self, folder, units=11, callbacks=(), patience=9):
        keras.utils.set_random_seed(5)
        self.model = keras.Sequential(
            [keras.layers.Dense(units), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
        )
        self.model.compile(
            AveragedAdam(0.1, average_momentum=0.9, gradient_accumulation_steps=2),
            loss="mse",
            metrics=["mae"],
        )
        self.folder = folder
        self.number = tf.Variable(-1, dtype=tf.int64)
        self.history = KeepHistory(folder.with_suffix(".json"))
        self.stopping = StopWithoutImprovement(patience)
        self.callbacks = [WithAverage([self.stopping]), *callbacks, self.history]

    def batches(self):
        def one_pass(_):
            seed = tf.stack([0, tf.cast(self.number, tf.int32)])
            order = tf.argsort(tf.random.stateless_uniform([PAIRS], seed))
            pairs = tf.gather(INPUTS, order), tf.gather(TARGETS, order)
            return tf.data.Dataset.from_tensor_slices(pairs).batch(BATCH)

        passes = tf.data.Dataset.from_tensors(0).flat_map(one_pass)
        return passes.apply(tf.data.experimental.assert_cardinality(PAIRS // BATCH))

    def fit(self, epochs=4, every_seconds=0, batches=None):
        resumable_fit(
            self.model,
            batches or self.batches(),
            self.folder,
            epochs=epochs,
            epoch=self.number,
            every_seconds=every_seconds,
            callbacks=self.callbacks,
            validation_data=(INPUTS, TARGETS),
            verbose=0,
        )
        return self

    def result(self):
        variables = [*self.model.variables, *self.model.optimizer.variables]
        return self.history.history, [variable.numpy() for variable in variables]


class At(keras.callbacks.Callback):
    """Does something after batch `batch` of epoch `epoch`, both from 1."""

    def __init__(self, epoch, batch, action):
        super().__init__()
        self.place = epoch, batch
        self.action = action

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch + 1

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch + 1) == self.place:
            self.action(self)


class PowerCut(Exception):
    pass


def power_cut(callback):
    raise PowerCut


def assert_same(session, other):
    (history, variables), (other_history, other_variables) = session.result(), other.result()
    assert history == other_history
    np.testing.assert_equal(variables, other_variables)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return Session(tmp_path_factory.mktemp("undisturbed") / "run").fit()


@pytest.mark.parametrize(
    "place",
    [(1, 1), (2, 5), *(pytest.param(place, marks=pytest.mark.prove) for place in [(3, 7), (4, 6)])],
)
def test_a_resumed_fit_equals_an_uninterrupted_one(undisturbed, tmp_path, place, capsys):
    with pytest.raises(PowerCut):
        Session(tmp_path / "run", callbacks=[At(*place, power_cut)]).fit()
    capsys.readouterr()
    session = Session(tmp_path / "run").fit()
    assert_same(session, undisturbed)
    epoch, batch = place
    if batch > 1:  # The last checkpoint is that of the batch before.
        said = f"Resuming in epoch {epoch}, after batch {batch - 1} of 7.\n"
        assert capsys.readouterr().out == said


def test_variables_are_built_for_batches_of_two_views():
    model = kformer.Transformer(20, num_layers=1, d_model=8, num_heads=2, d_ff=8)
    model.compile("adam", MaskedCrossEntropy(), metrics=[MaskedAccuracy()])
    ids, views = (tf.TensorSpec(shape, tf.int32) for shape in ([None] * 2, [None, None, 1, 2]))
    build(model, SimpleNamespace(element_spec=((ids, ids), views)))
    assert len(model.optimizer.variables) > 2 * len(model.trainable_variables)
    assert model.get_metrics_result()["accuracy"] == 0


@pytest.mark.prove
def test_a_fit_is_resumed_twice_in_the_same_epoch(undisturbed, tmp_path):
    for batch in (3, 2):  # Of the batches that are left.
        with pytest.raises(PowerCut):
            Session(tmp_path / "run", callbacks=[At(2, batch, power_cut)]).fit()
    assert newest_checkpoint(tmp_path / "run").batch == 3
    assert_same(Session(tmp_path / "run").fit(), undisturbed)


@pytest.mark.prove
def test_a_data_set_that_can_begin_anywhere_reads_nothing_twice(undisturbed, tmp_path):
    with pytest.raises(PowerCut):
        Session(tmp_path / "run", callbacks=[At(2, 5, power_cut)]).fit()
    session, begun = Session(tmp_path / "run"), []
    batches = session.batches()
    batches.beginning_at = lambda number: begun.append(number) or batches.skip(number)
    assert_same(session.fit(batches=batches), undisturbed)
    assert begun == [4]


@pytest.mark.prove
def test_after_the_last_epoch_nothing_is_left_to_do(undisturbed):
    assert_same(Session(undisturbed.folder).fit(), undisturbed)


@pytest.mark.prove
def test_more_epochs_continue_after_the_last(undisturbed, tmp_path):
    Session(tmp_path / "run").fit(epochs=2)
    assert_same(Session(tmp_path / "run").fit(epochs=4), undisturbed)


@pytest.mark.prove
def test_there_is_a_checkpoint_after_every_epoch_however_long_the_interval(tmp_path):
    with pytest.raises(PowerCut):
        Session(tmp_path / "run", callbacks=[At(3, 4, power_cut)]).fit(every_seconds=1e6)
    assert newest_checkpoint(tmp_path / "run")[:2] == (2, 0)


def never_better(session):
    session.stopping.best = 0.0  # No mean squared error is less.
    return session


@pytest.mark.prove
def test_the_patience_of_early_stopping_is_restored(tmp_path):
    undisturbed = never_better(Session(tmp_path / "calm", patience=3)).fit(epochs=9)
    assert len(undisturbed.history.history["loss"]) == 3
    callbacks = [At(2, 4, power_cut)]
    with pytest.raises(PowerCut):
        never_better(Session(tmp_path / "run", patience=3, callbacks=callbacks)).fit(epochs=9)
    session = Session(tmp_path / "run", patience=3).fit(epochs=9)
    assert_same(session, undisturbed)
    # And that it has stopped.
    assert_same(Session(tmp_path / "run", patience=3).fit(epochs=9), undisturbed)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("number", "exit_code"),
    [pytest.param(signal.SIGINT, 130, marks=pytest.mark.prove), (signal.SIGTERM, 143)],
)
@pytest.mark.parametrize(
    ("place", "said"),
    [((2, 3), "in epoch 2, after batch 3 of 7"), ((2, 7), "after epoch 2")],
)
def test_a_signal_ends_it_after_the_batch_with_a_checkpoint(
    undisturbed, tmp_path, number, exit_code, place, said
):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    callback = At(*place, lambda _: os.kill(os.getpid(), number))
    with pytest.raises(Interrupted, match=f"^Stopped {said}; all is saved.$") as stopped:
        Session(tmp_path / "run", callbacks=[callback]).fit(every_seconds=1e6)
    assert stopped.value.exit_code == exit_code
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    assert_same(Session(tmp_path / "run").fit(), undisturbed)


@pytest.mark.prove
def test_a_signal_at_the_end_of_the_last_epoch_changes_nothing(undisturbed, tmp_path):
    callback = At(4, 7, lambda _: signal.raise_signal(signal.SIGINT))
    assert_same(Session(tmp_path / "run", callbacks=[callback]).fit(), undisturbed)


@pytest.mark.prove
def test_a_second_signal_ends_it_at_once(tmp_path):
    def twice(_):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stopped:
        Session(tmp_path / "run", callbacks=[At(2, 3, twice)]).fit(every_seconds=1e6)
    assert not isinstance(stopped.value, Interrupted)
    assert newest_checkpoint(tmp_path / "run")[:2] == (1, 0)


@pytest.mark.prove
def test_it_trains_outside_the_main_thread(undisturbed, tmp_path):
    session = Session(tmp_path / "run")
    thread = threading.Thread(target=session.fit)
    thread.start()
    thread.join()
    assert_same(session, undisturbed)


def spoil(callback):
    weights = callback.model.trainable_variables[0]
    weights.assign(np.full(weights.shape, np.nan))


@pytest.mark.prove
def test_weights_that_are_not_finite_are_never_saved(tmp_path):
    callbacks = [At(2, 3, spoil)]
    with pytest.raises(FloatingPointError, match=r"must stay finite.* at step 5\."):
        Session(tmp_path / "run", callbacks=callbacks).fit()
    assert newest_checkpoint(tmp_path / "run")[:2] == (1, 2)


@pytest.mark.prove
def test_an_infinite_or_nan_loss_ends_it_at_that_step(tmp_path):
    callbacks = [At(2, 3, spoil), StopWhenDiverged()]
    with pytest.raises(FloatingPointError, match=r"float32 .*Received: loss=nan at step 5\."):
        Session(tmp_path / "run", callbacks=callbacks).fit(every_seconds=1e6)
    assert newest_checkpoint(tmp_path / "run")[:2] == (1, 0)


@pytest.mark.prove
def test_a_checkpoint_of_another_model_is_an_error(tmp_path):
    Session(tmp_path / "run").fit(epochs=1)
    with pytest.raises(ValueError, match=r"model/0 of shape \(3, 11\) for shape \(3, 13\)"):
        Session(tmp_path / "run", units=13).fit()


@pytest.mark.prove
def test_a_checkpoint_of_other_callbacks_is_an_error(tmp_path):
    Session(tmp_path / "run").fit(epochs=1)
    callbacks = [StopWithoutImprovement(2)]
    with pytest.raises(
        ValueError,
        match=r"WithAverage, StopWithoutImprovement, KeepHistory, .* has WithAverage, KeepHistory",
    ):
        Session(tmp_path / "run", callbacks=callbacks).fit()


@pytest.mark.parametrize(("batches", "number"), [("unknown", -2), ("infinite", -1)])
def test_the_number_of_batches_must_be_known(tmp_path, batches, number):
    session = Session(tmp_path / "run")
    data = session.batches().repeat()
    data = data.filter(lambda *_: True) if batches == "unknown" else data
    with pytest.raises(ValueError, match=f"Received: cardinality {number} "):
        session.fit(batches=data)
