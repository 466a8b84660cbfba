"""One training run, from text files to a translator in a folder."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

from kformer.files import replacing
from kformer.tokenizer import Tokenizer
from kformer.training.average import WithAverage
from kformer.training.callbacks import (
    EarlyStopping,
    KeepBest,
    KeepHistory,
    StopWhenDiverged,
    TokensPerSecond,
)
from kformer.training.learner import new_translator, recipe_from
from kformer.training.progress import Progress
from kformer.training.recipe import Recipe
from kformer.training.resume import resumable_fit
from kformer.training.run_folder import (
    CHECKPOINTS,
    HISTORY,
    LOGS,
    PICTURE,
    RECORD,
    TOKENIZER,
    TRANSLATOR,
    check_output,
    clear,
    clear_unfinished,
    locked,
    read_record,
    settings,
    write_json,
)
from kformer.training.tensorboard import TensorBoardLogs
from kformer.training.text_of_run import TextOfRun
from kformer.training.translation_scores import TranslationScores
from kformer.translator import Translator, load

_SCORES = {"loss": ("val_loss", "min"), "bleu": ("val_bleu", "max")}  # By what is monitored.


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
    overwrite: bool = False,
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
        overwrite: Whether to replace what an earlier run left in the folder, and start anew.
        checkpoint_seconds: From one checkpoint to the next; see `resumable_fit`.
        tensorboard: Whether to write logs for TensorBoard, in the folder's `logs`.
        callbacks: More Keras callbacks.

    Returns:
        The best `Translator`, as saved.

    Raises:
        FileExistsError: The folder holds a finished run, one of other settings, or something else;
            see `overwrite`.
        BlockingIOError: Another process trains in the folder.
        FileNotFoundError, ValueError: Something is wrong with the files or the recipe.
        FloatingPointError: Learning diverged.
        Interrupted: SIGTERM or Ctrl-C came; the state of training is saved.
    """
    text = TextOfRun(source, target, valid_source, valid_target, weights, temperature)
    recipe.check_validation(valid_source)
    output = Path(output)
    with locked(output):
        record = settings(recipe, text.files, weights, temperature, warm_start, new_vocabulary)
        resumes = check_output(output, overwrite, record)
        if resumes:
            record = {**read_record(output), **record}  # The files may have moved.
        else:
            record["pairs"] = text.check()
        other = None if warm_start is None else load(warm_start)
        kept = None if new_vocabulary or other is None else other.tokenizer
        tokenizer = _tokenizer(recipe, text.files, output, record, kept)
        if not resumes:
            print(text.report(recipe_from(recipe, tokenizer, other), tokenizer), flush=True)
        with tf.device("CPU:0"):  # Where the data is read.
            epoch = tf.Variable(0, trainable=False, dtype=tf.int64)
        batches = text.batches(recipe, tokenizer, epoch)
        translator = new_translator(recipe, tokenizer, other)

        if overwrite:
            clear(output)
        clear_unfinished(output)
        write_json(output / RECORD, {**record, "finished": False})
        with replacing(output / CHECKPOINTS / TOKENIZER) as temporary:
            tokenizer.save(temporary)
        history = KeepHistory(output / HISTORY)
        resumable_fit(
            translator.transformer,
            batches[0],
            output / CHECKPOINTS,
            epochs=recipe.epochs,
            epoch=epoch,
            every_seconds=checkpoint_seconds,
            validation_data=batches[1],
            verbose=0,
            callbacks=[
                TokensPerSecond(),
                StopWhenDiverged(),
                *_judging(recipe, translator, output / TRANSLATOR, text),
                *callbacks,
                history,
                *([TensorBoardLogs(output / LOGS)] if tensorboard else ()),
                Progress(int(batches[0].cardinality()), recipe.epochs),
            ],
        )
        if not (output / TRANSLATOR).exists():
            raise FloatingPointError(
                "Learning diverged: no epoch had a finite validation loss; a longer warm-up may "
                f"help. Received: {history.history}."
            )
        _draw(history.history, output / PICTURE, *_SCORES[recipe.monitor])
        write_json(output / RECORD, {**record, "finished": True})
        shutil.rmtree(output / CHECKPOINTS)
        return load(output / TRANSLATOR)


def _tokenizer(recipe, files, output, record, kept):
    """Returns the tokenizer of the run, and notes it in `record`.

    It is the one in its folder, if it is there; `kept`, if that is not None; else a new one.

    Raises:
        ValueError: It is not the one that the run began with.
    """
    path = output / CHECKPOINTS / TOKENIZER
    if "tokenizer" in record and path.is_file():
        tokenizer = Tokenizer.load(path)
    elif kept is not None:
        tokenizer = kept
    else:
        tokenizer = Tokenizer.train([*files["source"], *files["target"]], recipe.vocab_size)
    found = hashlib.sha256(tokenizer.model).hexdigest()
    if record.setdefault("tokenizer", found) != found:
        raise ValueError(
            "A run goes on with the tokenizer that it began with; --overwrite starts it anew. "
            f"Received: {str(path)!r}, which has changed."
        )
    return tokenizer


def _judging(recipe, translator, path, text):
    """Returns the callbacks that judge an epoch, by the average of the weights if there is one."""
    score, mode = _SCORES[recipe.monitor]
    callbacks = [KeepBest(translator, path, score, mode)]
    if recipe.monitor == "bleu":
        callbacks.insert(0, TranslationScores(translator, *text.validation_lines()))
    if recipe.patience:
        callbacks.append(EarlyStopping(recipe.patience, score, mode))
    return [WithAverage(callbacks)] if recipe.ema_momentum else callbacks


def _draw(history, path, score, mode):
    """Draws the learning curves, and marks the epoch that `KeepBest` kept."""
    from kformer.plot import plot_history, save_figure  # Slow to import, needed once.

    best, values = None, history.get(score)
    if values:
        values = np.array(values) * (1 if mode == "min" else -1)
        best = int(np.nanargmin(values)) + 1
    save_figure(plot_history(history, best), path)
