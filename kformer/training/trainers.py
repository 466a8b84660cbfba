"""Whole training runs, from text to a model in a folder: `train` for each kind of model."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import keras

from kformer.tasks.language_model import LanguageModel
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.text_tagger import TextTagger
from kformer.tasks.translator import Translator
from kformer.text.documents import LINE
from kformer.training.kinds.classification_task import prepare_classifier
from kformer.training.kinds.language_task import prepare_language_model
from kformer.training.kinds.tagging_task import prepare_tagger
from kformer.training.kinds.translation_preparation import prepare_translation
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.execution import run
from kformer.training.run.run_folder import run_folder

Paths = str | Path | list[str | Path]
Pairs = str | Path | Iterable[Any]


def train(
    recipe: Recipe,
    source: Paths | None = None,
    target: Paths | None = None,
    output: str | Path | None = None,
    valid_source: Paths | None = None,
    valid_target: Paths | None = None,
    *,
    pairs: Pairs | None = None,
    valid_pairs: Pairs | None = None,
    columns: Sequence[str] | None = None,
    shards: Paths | None = None,
    skip_damaged: bool = False,
    weights: list[float] | None = None,
    temperature: float | None = None,
    warm_start: str | Path | None = None,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    target_tokenizer: str | Path | None = None,
    target_language: str | None = None,
    tokenize: str | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Translator:
    """Trains a translator and saves it in a folder.

    The folder holds `translator.keras`, the model of the best validation score (the last model
    without validation files); `history.json` and `history.png`; and `run.json`, the run config.
    While the run is unfinished, the folder holds its checkpoints, too. Called again with the same
    settings, `train` resumes from the newest one, and the weights at the end are the same to the
    bit (`resumable_fit`).

    Before the first step it prints the report of `check_corpus`.

    Args:
        recipe: All numbers of the run.
        source, target: A path or a list of paths of parallel text.
        output: The folder; must be given.
        valid_source, valid_target: The same, of the text that chooses the best model. Of several
            files each is scored, and the first one chooses.
        pairs, valid_pairs, columns: Instead of such files: tables, or pairs in Python, as for
            `split_pairs`. For an exact resumption the pairs must be the same, in the same order.
        shards: Instead of text to train on: a path or a list of paths of folders that
            `prepare_shards` wrote, as for `shards_dataset`. Their tokenizer is used.
        skip_damaged: Whether to leave out damaged shards, with a warning, instead of raising.
        weights, temperature: How several files, or folders of shards, are mixed; see
            `translation_dataset`.
        warm_start: Path of a `.keras` translator to start from, instead of random weights. Its
            sizes replace the recipe's, and `kformer.training.warm_start` copies its weights.
        new_vocabulary: Whether to learn a new vocabulary from the text with `warm_start`, instead
            of keeping the translator's.
        tokenizer: Path of a SentencePiece model, or of a `.keras` translator, whose vocabulary (or
            two) is used. By default one is learned from the text of both sides, or one from each
            side if `recipe.target_vocab_size` is not 0.
        target_tokenizer: The same for the target, if it has its own vocabulary.
        target_language: Code of the language of the translations, such as "ja", which is kept as
            `Translator.target_language`; by default the language of `warm_start`. It chooses the
            tokenizer of BLEU (`kformer.bleu`).
        tokenize: Another tokenizer of BLEU, for a recipe whose `monitor` is "bleu" or "chrf".
        exact_sizes: Names of sizes that must be exactly the recipe's. By default the vocabulary has
            as many ids as the text supports, at most the recipe's number, and the sizes of
            `warm_start` and `tokenizer` replace the recipe's; for the sizes named here that is an
            error.
        overwrite: Whether to replace a finished run in the folder, or one of other settings. An
            unfinished run of the same settings is resumed.
        restart: Whether to replace any run in the folder, even an unfinished one of the same
            settings.
        checkpoint_seconds: Time between two checkpoints, as for `resumable_fit`.
        tensorboard: Whether to write logs for TensorBoard to `logs` in the folder.
        callbacks: More Keras callbacks.

    Returns:
        The best `Translator`, as saved.

    Raises:
        FileExistsError: The folder holds a finished run, a run with other settings, or other files,
            without `overwrite`.
        BlockingIOError: Another process trains in the folder.
        FileNotFoundError, ValueError: The files or the recipe cannot be used; or an unfinished run
            has no complete checkpoint, without `restart`.
        FloatingPointError: Training diverged.
        Interrupted: SIGTERM or Ctrl-C came; the state of training is saved.
    """
    if output is None:
        raise TypeError(f"A run needs a folder to write to. Received: {output=}.")
    with run_folder(output) as folder:
        prepared = prepare_translation(
            *(recipe, source, target, folder, valid_source, valid_target),
            pairs=pairs,
            valid_pairs=valid_pairs,
            columns=columns,
            shards=shards,
            skip_damaged=skip_damaged,
            weights=weights,
            temperature=temperature,
            warm_start=warm_start,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
            target_tokenizer=target_tokenizer,
            target_language=target_language,
            tokenize=tokenize,
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


def train_classifier(
    recipe: Recipe,
    train: Paths,
    output: str | Path,
    valid: Paths | None = None,
    *,
    columns: Sequence[str] | None = None,
    pooling: str = "mean",
    warm_start: str | Path | None = None,
    freeze: bool = False,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> TextClassifier:
    """Trains a classifier and saves it in a folder, as `train` does a translator.

    The folder holds `classifier.keras` and the other files that `train` lists; an unfinished run is
    resumed in the same way, to the bit.

    Args:
        recipe: All numbers of the run. `target_vocab_size`, `num_decoder_layers` and
            `max_length_ratio` must be 0, and `decoder_cell` "attention": there is no target.
        train: A path or a list of paths of labelled text, as for `classification_dataset`. Its
            labels, in alphabetical order, become the classifier's.
        output: The folder.
        valid: The same, of the text that chooses the best model. Of several files each is scored,
            and the first one chooses.
        columns: As for `classification_dataset`.
        pooling: As for `kformer.TextClassifier`.
        warm_start: Path of a `.keras` file, a translator's or a classifier's, whose encoder to
            start from. Its sizes and vocabulary replace the recipe's.
        freeze: Whether the weights of that encoder stay as they are, so that the head alone learns.
        new_vocabulary, tokenizer, exact_sizes, overwrite, restart, checkpoint_seconds, tensorboard,
            callbacks: As for `train`.

    Returns:
        The best `TextClassifier`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`. The text may also have one label only, a label without
            text, or a label in `valid` that is not in `train`.
    """
    with run_folder(output) as folder:
        prepared = prepare_classifier(
            *(recipe, train, folder, valid),
            columns=columns,
            pooling=pooling,
            warm_start=warm_start,
            freeze=freeze,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
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


def train_tagger(
    recipe: Recipe,
    train: Paths,
    output: str | Path,
    valid: Paths | None = None,
    *,
    warm_start: str | Path | None = None,
    freeze: bool = False,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> TextTagger:
    """Trains a tagger and saves it as `tagger.keras` in a folder, as `train_classifier` does.

    Args:
        recipe: All numbers of the run; numbers of the target must be 0.
        train: A path or a list of paths of text in the style of CoNLL: a word, white space and its
            label on each line, and a blank line after each text.
        output: The folder.
        valid: The same, of the text that chooses the best model.
        warm_start, freeze: As for `train_classifier`.
        new_vocabulary, tokenizer, exact_sizes, overwrite, restart, checkpoint_seconds, tensorboard,
            callbacks: As for `train`.

    Returns:
        The best `TextTagger`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`.
    """
    with run_folder(output) as folder:
        prepared = prepare_tagger(
            *(recipe, train, folder, valid),
            warm_start=warm_start,
            freeze=freeze,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
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


def train_language_model(
    recipe: Recipe,
    text: Paths,
    output: str | Path,
    valid_text: Paths | None = None,
    *,
    documents: str = LINE,
    warm_start: str | Path | None = None,
    new_vocabulary: bool = False,
    tokenizer: str | Path | None = None,
    exact_sizes: Collection[str] = (),
    overwrite: bool = False,
    restart: bool = False,
    checkpoint_seconds: float = 60.0,
    tensorboard: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> LanguageModel:
    """Trains a language model and saves it in a folder, as `train` does a translator.

    The folder holds `language_model.keras` and the other files that `train` lists; an unfinished
    run is resumed in the same way, to the bit.

    Args:
        recipe: All numbers of the run. `target_vocab_size`, `num_decoder_layers` and
            `max_length_ratio` must be 0, and `decoder_cell` "attention": there is no target.
            `max_length` is the length of a row, and the largest number of positions of the model.
        text: A path or a list of paths of plain text.
        output: The folder.
        valid_text: The same, of the text that chooses the best model. Of several files each is
            scored, and the first one chooses.
        documents: Definition of a document: "line", each line; "blank-line", the lines between
            blank ones; "file", a whole file. With the latter two the model learns line breaks, too,
            as for `language_dataset`.
        warm_start: Path of a language model's `.keras` file to start from. Its sizes and vocabulary
            replace the recipe's.
        new_vocabulary, tokenizer, exact_sizes, overwrite, restart, checkpoint_seconds, tensorboard,
            callbacks: As for `train`.

    Returns:
        The best `LanguageModel`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`.
    """
    with run_folder(output) as folder:
        prepared = prepare_language_model(
            *(recipe, text, folder, valid_text),
            documents=documents,
            warm_start=warm_start,
            new_vocabulary=new_vocabulary,
            tokenizer=tokenizer,
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
