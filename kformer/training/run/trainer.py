"""One training run, from text files to a translator in a folder."""

import numpy as np
import tensorflow as tf

from kformer.files import write_json
from kformer.tasks.translator import Translator, load
from kformer.text.tokenizer import Tokenizer
from kformer.training.callbacks.divergence import Diverged, StopWhenDiverged
from kformer.training.callbacks.history import KeepHistory
from kformer.training.callbacks.progress import Progress
from kformer.training.callbacks.speed import TokensPerSecond
from kformer.training.callbacks.tensorboard import TensorBoardLogs
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.changed_settings import in_words, with_changes
from kformer.training.run.checkpoint import NoWholeCheckpoint, checkpoint_files, keep_newest
from kformer.training.run.choosing import SCORES, Choice
from kformer.training.run.choosing import in_words as average_in_words
from kformer.training.run.folder import (
    CHECKPOINTS,
    HISTORY,
    LOGS,
    PICTURE,
    RECORD,
    TRANSLATOR,
    check_can_go_on,
    clear,
    clear_unfinished,
    how_to_go_on,
    locked,
)
from kformer.training.run.learner import new_translator, recipe_from
from kformer.training.run.preparation import Prepared, prepare
from kformer.training.run.resume import resumable_fit
from kformer.training.run.text import TextOfRun
from kformer.training.run.validation import ValidateEvery
from kformer.training.run.vocabularies import save_vocabularies


def train(
    recipe: Recipe,
    source,
    target,
    output,
    valid_source=None,
    valid_target=None,
    *,
    weights=None,
    temperature: float | None = None,
    warm_start=None,
    new_vocabulary: bool = False,
    tokenizer=None,
    target_tokenizer=None,
    exact_sizes=(),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks=(),
) -> Translator:
    """Trains a translator and leaves it in a folder.

    The folder holds `translator.keras`, the epoch with the best validation score (the last one
    without validation files); `history.json` and `history.png`; and `run.json`, what was run. While
    the run is unfinished, it has checkpoints there, too: called again with the same settings, it
    goes on from the newest, and ends with the same weights to the bit; see `resumable_fit`.

    Before the first step it prints what `check_corpus` finds in the text.

    Args:
        recipe: All numbers of the run.
        source, target: A path or a list of paths of parallel text.
        output: The folder.
        valid_source, valid_target: The same, of text to choose the best epoch by.
        weights, temperature: How several files are mixed; see `translation_dataset`.
        warm_start: Path of a `.keras` translator to start from, in place of random weights; its
            sizes replace those of the recipe. `kformer.training.warm_start` says how.
        new_vocabulary: Whether to learn a vocabulary from the text then, too, instead of keeping
            that of the translator.
        tokenizer: Path of a SentencePiece model, or of a `.keras` translator, whose vocabulary (or
            two) is used; by default one is learned from the text, of source and target together,
            or one from each side where `recipe.target_vocab_size` is not 0.
        target_tokenizer: The same for the target, where it has a vocabulary of its own.
        exact_sizes: Names of sizes that must be those of the recipe: "vocab_size" and
            "target_vocab_size" raise an error where the text supports fewer ids (by default the
            vocabulary has as many as it supports then), and these and the sizes of a model where
            those of `warm_start` or `tokenizer` are others.
        overwrite: Whether to replace a finished run in the folder, or one of other settings. An
            unfinished one of the same settings goes on.
        restart: Whether to replace any run in the folder, also such an unfinished one.
        checkpoint_seconds: From one checkpoint to the next; see `resumable_fit`.
        tensorboard: Whether to write logs for TensorBoard, in the folder's `logs`.
        callbacks: More Keras callbacks.

    Returns:
        The best `Translator`, as saved.

    Raises:
        FileExistsError: The folder holds a finished run, one of other settings, or something else;
            see `overwrite`.
        BlockingIOError: Another process trains in the folder.
        FileNotFoundError, ValueError: Something is wrong with the files or the recipe; or an
            unfinished run has no whole checkpoint left; see `restart`.
        FloatingPointError: Learning diverged.
        Interrupted: SIGTERM or Ctrl-C came; the state of training is saved.
    """
    with locked(output):
        prepared = prepare(
            *(recipe, source, target, output, valid_source, valid_target),
            weights=weights,
            temperature=temperature,
            warm_start=warm_start,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
            target_tokenizer=target_tokenizer,
            exact_sizes=exact_sizes,
            overwrite=overwrite,
            restart=restart,
        )
        return run(
            prepared,
            checkpoint_seconds=checkpoint_seconds,
            tensorboard=tensorboard,
            callbacks=callbacks,
        )


def report(prepared: Prepared) -> str:
    """Says in plain words what is in the text of a run, and what it will take."""
    other = None if prepared.warm_start is None else load(prepared.warm_start)
    return _report(prepared, _tokenizers(prepared), other)


def run(
    prepared: Prepared,
    *,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks=(),
) -> Translator:
    """Trains what `prepare` returned; the caller holds the lock of the folder. See `train`."""
    recipe, output, record = prepared.recipe, prepared.output, prepared.record
    tokenizer, target_tokenizer = _tokenizers(prepared)
    other = None if prepared.warm_start is None else load(prepared.warm_start)
    if not prepared.resumes:
        print(_report(prepared, (tokenizer, target_tokenizer), other), flush=True)
    text = _text(prepared)
    with tf.device("CPU:0"):  # Where the data is read.
        epoch = tf.Variable(0, trainable=False, dtype=tf.int64)
    batches = text.batches(recipe, tokenizer, epoch, target_tokenizer)
    translator = new_translator(recipe, tokenizer, other, target_tokenizer)

    if not prepared.resumes:
        clear(output)
    clear_unfinished(output)
    if not checkpoint_files(output / CHECKPOINTS):  # Else when these settings hold.
        write_json(output / RECORD, {**record, "finished": False})
    save_vocabularies(output, prepared.vocabularies)
    history = KeepHistory(output / HISTORY)
    choice = Choice(recipe, translator, output, batches[1], text.validation_lines)
    number = int(batches[0].cardinality())
    told = [
        TokensPerSecond(),
        StopWhenDiverged(),
        *choice.callbacks,
        *callbacks,
        history,
        *([TensorBoardLogs(output / LOGS, bool(recipe.validate_every))] if tensorboard else ()),
        Progress(number, recipe.epochs),
    ]

    def resumed(step):
        for line in in_words(prepared.changed, step):
            print(line, flush=True)
        record.update(with_changes(record, prepared.changed, step))
        write_json(output / RECORD, {**record, "finished": False})

    try:
        resumable_fit(
            translator.transformer,
            batches[0],
            output / CHECKPOINTS,
            epochs=recipe.epochs,
            epoch=epoch,
            every_seconds=checkpoint_seconds,
            every_steps=recipe.validate_every,
            validation_data=batches[1],
            verbose=0,
            resumed=resumed,
            ignore_stop=bool({"patience", "monitor"} & {*prepared.changed}),
            callbacks=[*told, ValidateEvery(recipe.validate_every, batches[1], number, told)],
        )
    except NoWholeCheckpoint:
        check_can_go_on(output)  # Raises an error that says what to do.
        raise
    except Diverged as error:
        raise FloatingPointError(how_to_go_on(output, recipe.precision, error)) from error
    if not (output / TRANSLATOR).exists():
        raise FloatingPointError(
            "No validation gave a finite score: begin anew, with --restart and a lower "
            f"--learning-rate-scale or a longer --warmup-steps. Received: {history.history}."
        )
    _draw(history.history, output / PICTURE, *SCORES[recipe.monitor])
    record.pop("average", None)  # That of before the run was extended.
    if average := choice.average():
        print(average_in_words(average), flush=True)
        record["average"] = average
    write_json(output / RECORD, {**record, "finished": True})
    keep_newest(output / CHECKPOINTS)  # The run may be extended.
    return load(output / TRANSLATOR)


def _tokenizers(prepared):
    """Returns those of source and target; None for the target, if both share one."""
    return [model and Tokenizer(model) for model in prepared.vocabularies]


def _text(prepared):
    return TextOfRun(*prepared.files.values(), **prepared.mixture)


def _report(prepared, tokenizers, other):
    tokenizer, target_tokenizer = tokenizers
    recipe = recipe_from(prepared.recipe, tokenizer, other, target_tokenizer)
    return "\n".join(
        [
            *prepared.notes(),
            _text(prepared).report(recipe, tokenizer, target_tokenizer, prepared.origin),
        ]
    )


def _draw(history, path, score, mode):
    """Draws the learning curves, and marks the epoch that `KeepBest` kept."""
    from kformer.plot import plot_history, save_figure  # Slow to import, needed once.

    best, values = None, history.get(score)
    if values:
        values = np.array(values) * (1 if mode == "min" else -1)
        best = int(np.nanargmin(values)) + 1
    save_figure(plot_history(history, best), path)
