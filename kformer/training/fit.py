"""One training run, from text files to a translator in a folder."""

import hashlib
import shutil
from pathlib import Path

import keras
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
from kformer.training.dataset import translation_dataset
from kformer.training.loss import MaskedCrossEntropy
from kformer.training.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.optimizer import AveragedAdam
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
from kformer.training.schedule import WarmupSchedule
from kformer.training.tensorboard import TensorBoardLogs
from kformer.training.text_files import as_list, check_parallel, read_lines
from kformer.training.translation_scores import TranslationScores
from kformer.transformer import Transformer
from kformer.translator import Translator, load

_DTYPES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}  # By precision.
_SCORES = {"loss": ("val_loss", "min"), "bleu": ("val_bleu", "max")}  # By what is monitored.


def train(
    recipe: Recipe,
    source,
    target,
    output,
    valid_source=None,
    valid_target=None,
    *,
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

    Args:
        recipe: All numbers of the run.
        source, target: A path or a list of paths of parallel text.
        output: The folder.
        valid_source, valid_target: The same, of text to choose the best epoch by.
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
    files = {
        "source": as_list(source),
        "target": as_list(target),
        "valid_source": as_list(valid_source or []),
        "valid_target": as_list(valid_target or []),
    }
    recipe.check_validation(files["valid_source"])
    output = Path(output)
    with locked(output):
        record = settings(recipe, files)
        resumes = check_output(output, overwrite, record)
        if resumes:
            record = {**read_record(output), **record}  # The files may have moved.
        else:
            record["pairs"] = _count_pairs(**files)
        tokenizer = _tokenizer(recipe, files, output, record)
        keras.utils.set_random_seed(recipe.seed)
        with tf.device("CPU:0"):  # Where the data is read.
            epoch = tf.Variable(0, trainable=False, dtype=tf.int64)
        batches = _batches(recipe, tokenizer, epoch, **files)
        translator = Translator(tokenizer, compiled_transformer(recipe))

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
                *_judging(recipe, translator, output / TRANSLATOR, files),
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
        _draw(history.history, output / PICTURE)
        write_json(output / RECORD, {**record, "finished": True})
        shutil.rmtree(output / CHECKPOINTS)
        return load(output / TRANSLATOR)


def _count_pairs(source, target, valid_source, valid_target):
    """Checks all files; returns the number of pairs to train on."""
    if valid_source or valid_target:
        check_parallel(valid_source, valid_target)
    return check_parallel(source, target)


def _tokenizer(recipe, files, output, record):
    """Returns the tokenizer of the run, the one in its folder if it is there; notes it in `record`.

    Raises:
        ValueError: It is not the one that the run began with.
    """
    path = output / CHECKPOINTS / TOKENIZER
    if "tokenizer" in record and path.is_file():
        tokenizer = Tokenizer.load(path)
    else:
        tokenizer = Tokenizer.train([*files["source"], *files["target"]], recipe.vocab_size)
    found = hashlib.sha256(tokenizer.model).hexdigest()
    if record.setdefault("tokenizer", found) != found:
        raise ValueError(
            "A run goes on with the tokenizer that it began with; --overwrite starts it anew. "
            f"Received: {str(path)!r}, which has changed."
        )
    return tokenizer


def _judging(recipe, translator, path, files):
    """Returns the callbacks that judge an epoch: by the average of the weights, if there is one."""
    score, mode = _SCORES[recipe.monitor]
    callbacks = [KeepBest(translator, path, score, mode)]
    if recipe.monitor == "bleu":
        lines = [
            [line for file in files[side] for line in read_lines(file)]
            for side in ("valid_source", "valid_target")
        ]
        callbacks.insert(0, TranslationScores(translator, *lines))
    if recipe.patience:
        callbacks.append(EarlyStopping(recipe.patience, score, mode))
    return [WithAverage(callbacks)] if recipe.ema_momentum else callbacks


def _batches(recipe, tokenizer, epoch, source, target, valid_source, valid_target):
    """Returns the data sets of training and, if there are files for it, of validation."""
    sizes = {"tokens_per_batch": recipe.tokens_per_batch, "max_length": recipe.max_length}
    train_batches = translation_dataset(
        source,
        target,
        tokenizer,
        piece_splitting=recipe.piece_splitting,
        byte_spelling=recipe.byte_spelling,
        seed=recipe.seed,
        epoch=epoch,
        **sizes,
    )
    if not valid_source:
        return train_batches, None
    return train_batches, translation_dataset(
        valid_source, valid_target, tokenizer, shuffle=False, **sizes
    )


def compiled_transformer(recipe: Recipe) -> Transformer:
    """Returns a new model of the recipe, ready for `fit`: Adam as in the paper, section 5.3."""
    accumulated = recipe.gradient_accumulation
    transformer = Transformer(
        recipe.vocab_size,
        recipe.num_layers,
        recipe.d_model,
        recipe.num_heads,
        recipe.d_ff,
        recipe.dropout,
        recipe.norm_first,
        dtype=_DTYPES[recipe.precision],
    )
    transformer.compile(
        optimizer=AveragedAdam(
            WarmupSchedule(recipe.d_model, recipe.warmup_steps, recipe.learning_rate_scale),
            beta_1=0.9,
            beta_2=0.98,
            epsilon=1e-9,
            average_momentum=recipe.ema_momentum,
            gradient_accumulation_steps=accumulated if accumulated > 1 else None,
        ),
        loss=MaskedCrossEntropy(recipe.label_smoothing),
        metrics=[MaskedAccuracy(), Perplexity(), Tokens()],
    )
    # Else its slots are made within the first trace, and `fit` traces a second time.
    transformer.optimizer.build(transformer.trainable_variables)
    return transformer


def _draw(history, path):
    from kformer.plot import plot_history, save_figure  # Slow to import, needed once.

    save_figure(plot_history(history), path)
