"""Executes a prepared run: fits the model and writes the files of the run."""

import shutil
from importlib import metadata
from typing import Any

import keras
import tensorflow as tf

from kformer.files import write_json
from kformer.training.callbacks.stopping import Diverged, StopInTime, StopWhenDiverged
from kformer.training.callbacks.training_log import KeepHistory, TensorBoardLogs, TokensPerSecond
from kformer.training.callbacks.training_progress import Progress, hours
from kformer.training.parallel.compile_ahead import CompileAhead, compiled_in
from kformer.training.parallel.devices import check_fits, distribute
from kformer.training.parallel.meetings import Agreement
from kformer.training.parallel.process_team import team
from kformer.training.recipes.recipe import MONITORS, rate_option
from kformer.training.resumption.checkpoint import (
    NoWholeCheckpoint,
    checkpoint_files,
    keep_newest,
)
from kformer.training.resumption.resumable_fit import resumable_fit
from kformer.training.run.choosing import Choice
from kformer.training.run.choosing import in_words as average_in_words
from kformer.training.run.continuation import (
    EXTENDING,
    HOURS_REACHED,
    check_can_go_on,
    how_to_go_on,
    out_of_time_in_words,
)
from kformer.training.run.history_picture import draw_history
from kformer.training.run.outcome import further_epochs, improving_in_words
from kformer.training.run.run_config import (
    check_same,
    in_words,
    is_comparable,
    with_changes,
)
from kformer.training.run.run_folder import (
    CHECKPOINTS,
    COMPILED,
    HISTORY,
    LOGS,
    PICTURE,
    RUN_CONFIG,
    clear,
    clear_unfinished,
)
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import save_vocabularies
from kformer.training.run.validation import ValidateEvery, names_of_texts


def run(prepared: Prepared) -> Any:
    """Trains the run that `prepare` returned; the caller holds the lock of the folder."""
    _check_backend(prepared)
    versions = {name: metadata.version(name) for name in ("kformer", "keras", "tensorflow")}
    check_same(team().exchange({**prepared.config, "versions": versions}, is_comparable))
    with distribute():
        check_fits(prepared.recipe, prepared.vocabularies.sizes())
        scores, epochs, has_ended = _train(prepared)
    task, file = prepared.task, prepared.output / prepared.task.kind.file
    model = task.load(file)
    warning = task.uselessness(model, scores, epochs)
    if remark := task.calibrate(model):
        model.save(file)
    # How well the estimates fit means nothing where all translations are wrong.
    improving = improving_in_words(epochs) if has_ended else ""
    remarks = [warning] if warning else [remark, improving]
    print(*filter(None, remarks), sep="\n", end="\n" * any(remarks), flush=True)
    prepared.config["useful"] = warning is None
    _write_config(prepared, has_ended)
    keep_newest(prepared.output / CHECKPOINTS)  # The run may be extended.
    shutil.rmtree(prepared.output / COMPILED, ignore_errors=True)
    return model


def _train(prepared):
    """Fits the model.

    Returns:
        scores: Those of the best model, by name.
        epochs: `further_epochs`.
        has_ended: Whether the run has ended, and not only its time.
    """
    recipe, output, task = prepared.recipe, prepared.output, prepared.task
    options = task.options
    if not prepared.resumes:
        print(prepared.report(), flush=True)
    with tf.device("CPU:0"):  # Where the data is read.
        epoch = tf.Variable(0, trainable=False, dtype=tf.int64)
    learner = task.learner(prepared, epoch)
    _begin(prepared)
    history = KeepHistory(output / HISTORY)
    choice = Choice(prepared, learner)
    number = int(learner.batches.cardinality())
    texts = names_of_texts(task.validation_names) if task.is_chosen_by_mean else []
    progress = Progress(number, recipe.epochs, MONITORS[recipe.monitor][0], choice.is_best, texts)
    in_time = _in_time(options.max_hours, progress)
    observers = [
        CompileAhead(learner.batches, learner.validation),
        TokensPerSecond(learner.examples),
        StopWhenDiverged(),
        *choice.callbacks,
        *in_time,
        *options.callbacks,
        history,
        *_logs_of(prepared),
        progress,
    ]
    try:
        with compiled_in(output / COMPILED):
            resumable_fit(
                learner.model.network,
                learner.batches,
                output / CHECKPOINTS,
                epochs=recipe.epochs,
                epoch=epoch,
                every_seconds=options.checkpoint_seconds,
                every_steps=recipe.validate_every,
                validation_data=learner.validation,
                verbose=0,
                together=Agreement(team()),
                resumed=lambda step: _resume(prepared, step),
                ignore_stop=bool({*EXTENDING} & {*prepared.changed}),
                callbacks=[
                    *observers,
                    ValidateEvery(
                        recipe.validate_every,
                        learner.validation,
                        number,
                        observers,
                        from_start=prepared.is_trained,
                    ),
                ],
            )
    except NoWholeCheckpoint:
        check_can_go_on(output)  # Raises an error with the next command.
        raise
    except Diverged as error:
        raise FloatingPointError(how_to_go_on(output, recipe, error)) from error
    _finish(prepared, choice, history.history, progress.seconds)
    epochs = history.history["epoch"][-1]
    if epochs < recipe.epochs and any(stop.is_out_of_time for stop in in_time):
        prepared.config[HOURS_REACHED] = options.max_hours
        print(out_of_time_in_words(epochs, recipe.epochs), flush=True)
        return choice.scores, recipe.epochs, False
    suited = prepared.config.get("suited_epochs", 0)
    return choice.scores, further_epochs(history.history, recipe, suited), True


def _in_time(max_hours, progress):
    def seconds():
        """Of process 0, so that all processes end after the same validation."""
        return team().exchange(progress.seconds, lambda value: type(value) is float)[0]

    return [] if max_hours is None else [StopInTime(max_hours, seconds)]


def _logs_of(prepared):
    if not prepared.task.options.tensorboard:
        return []
    return [TensorBoardLogs(prepared.output / LOGS, bool(prepared.recipe.validate_every))]


def _check_backend(prepared):
    """Sets the backend in the config of a new run, or compares it with that of a run to resume."""
    running = keras.backend.backend()
    began = prepared.config.setdefault("backend", "tensorflow" if prepared.resumes else running)
    if began != running:
        raise ValueError(
            "A run resumes on the backend that it began on; --restart starts again. "
            f"Received: backend={running!r} instead of {began!r}."
        )


def _begin(prepared):
    """Prepares the folder; deletes an earlier run that is not resumed."""
    output = prepared.output
    if not prepared.resumes:
        clear(output)
    clear_unfinished(output)
    if not checkpoint_files(output / CHECKPOINTS):  # Otherwise `_resume` writes it.
        _write_config(prepared, finished=False)
    save_vocabularies(output, prepared.vocabularies)


def _resume(prepared, step):
    """Prints and records the settings that change at `step`."""
    for line in in_words(prepared.changed, step):
        print(line, flush=True)
    prepared.config.update(with_changes(prepared.config, prepared.changed, step))
    prepared.config.pop(HOURS_REACHED, None)
    _write_config(prepared, finished=False)


def _finish(prepared, choice, history, seconds):
    """Prints the result, chooses the model and draws the history."""
    output, config, task = prepared.output, prepared.config, prepared.task
    if not (output / task.kind.file).exists():
        raise FloatingPointError(
            "No validation gave a finite score: start again, with --restart and a lower "
            f"{rate_option(prepared.recipe)} or a longer --warmup-steps. Received: {history}."
        )
    print(f"{choice.in_words(history)} Training took {hours(seconds)}.", flush=True)
    draw_history(history, prepared.recipe.monitor, output / PICTURE)
    config.pop("average", None)  # Of the run before it was extended.
    if average := choice.average():
        print(average_in_words(average, task.kind.file), flush=True)
        config["average"] = average


def _write_config(prepared, finished):
    write_json(prepared.output / RUN_CONFIG, {**prepared.config, "finished": finished})
