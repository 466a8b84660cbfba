"""One training run, from text files to a translator in a folder."""

import dataclasses
import sys
from pathlib import Path

import keras

from kformer.tokenizer import Tokenizer
from kformer.training.callbacks import KeepBest, TokensPerSecond
from kformer.training.dataset import translation_dataset
from kformer.training.loss import MaskedCrossEntropy
from kformer.training.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipe import Recipe
from kformer.training.run_folder import (
    HISTORY,
    PICTURE,
    RECORD,
    TRANSLATOR,
    check_output,
    clear,
    write_json,
)
from kformer.training.schedule import WarmupSchedule
from kformer.training.text_files import as_list, check_parallel
from kformer.transformer import Transformer
from kformer.translator import Translator, load


def train(
    recipe: Recipe,
    source,
    target,
    output,
    valid_source=None,
    valid_target=None,
    *,
    overwrite: bool = False,
    callbacks=(),
) -> Translator:
    """Trains a translator and leaves it in a folder.

    The folder holds `translator.keras`, the epoch with the lowest validation loss (the last one
    without validation files); `history.json` and `history.png`; and `run.json`, what was run.

    Args:
        recipe: All numbers of the run.
        source, target: A path or a list of paths of parallel text.
        output: The folder.
        valid_source, valid_target: The same, of text to choose the best epoch by.
        overwrite: Whether to replace what an earlier run left in the folder.
        callbacks: More Keras callbacks.

    Returns:
        The best `Translator`, as saved.

    Raises:
        FileExistsError: The folder holds a run, or something else; see `overwrite`.
        FileNotFoundError, ValueError: Something is wrong with the files or the recipe.
        FloatingPointError: Learning diverged, so that there is nothing to keep.
    """
    output = Path(output)
    check_output(output, overwrite)
    files = {
        "source": as_list(source),
        "target": as_list(target),
        "valid_source": as_list(valid_source or []),
        "valid_target": as_list(valid_target or []),
    }
    pairs = check_parallel(files["source"], files["target"])
    if valid_source or valid_target:
        check_parallel(files["valid_source"], files["valid_target"])
    keras.utils.set_random_seed(recipe.seed)
    tokenizer = Tokenizer.train([*files["source"], *files["target"]], recipe.vocab_size)
    batches = _batches(recipe, tokenizer, **files)
    translator = Translator(tokenizer, compiled_transformer(recipe))

    if overwrite:
        clear(output)
    record = {
        "recipe": dataclasses.asdict(recipe),
        "files": {side: [str(Path(file).absolute()) for file in files[side]] for side in files},
        "pairs": pairs,
        "finished": False,
    }
    write_json(output / RECORD, record)
    history = _fit(recipe, translator, batches, output / TRANSLATOR, callbacks)
    write_json(output / HISTORY, history)
    _draw(history, output / PICTURE)
    write_json(output / RECORD, {**record, "finished": True})
    return load(output / TRANSLATOR)


def _fit(recipe, translator, batches, path, callbacks):
    """Trains, keeping the best translator at `path`; returns the history."""
    train_batches, valid_batches = batches
    average = [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)] if recipe.ema_momentum else []
    history = translator.transformer.fit(
        train_batches,
        validation_data=valid_batches,
        epochs=recipe.epochs,
        shuffle=False,  # The batches come shuffled.
        verbose=1 if sys.stdout.isatty() else 2,
        callbacks=[TokensPerSecond(), *average, KeepBest(translator, path), *callbacks],
    ).history
    if not path.exists():
        raise FloatingPointError(
            "Learning diverged: no epoch had a finite loss; a longer warm-up may help. "
            f"Received: {history}."
        )
    return history


def _batches(recipe, tokenizer, source, target, valid_source, valid_target):
    """Returns the data sets of training and, if there are files for it, of validation."""
    sizes = {"tokens_per_batch": recipe.tokens_per_batch, "max_length": recipe.max_length}
    train_batches = translation_dataset(
        source,
        target,
        tokenizer,
        byte_spelling=recipe.byte_spelling,
        seed=recipe.seed,
        **sizes,
    )
    if not valid_source:
        return train_batches, None
    return train_batches, translation_dataset(
        valid_source, valid_target, tokenizer, shuffle=False, **sizes
    )


def compiled_transformer(recipe: Recipe) -> Transformer:
    """Returns a new model of the recipe, ready for `fit`: Adam as in the paper, section 5.3."""
    transformer = Transformer(
        recipe.vocab_size,
        recipe.num_layers,
        recipe.d_model,
        recipe.num_heads,
        recipe.d_ff,
        recipe.dropout,
        recipe.norm_first,
    )
    transformer.compile(
        optimizer=keras.optimizers.Adam(
            WarmupSchedule(recipe.d_model, recipe.warmup_steps),
            beta_1=0.9,
            beta_2=0.98,
            epsilon=1e-9,
            use_ema=bool(recipe.ema_momentum),
            ema_momentum=recipe.ema_momentum,
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
