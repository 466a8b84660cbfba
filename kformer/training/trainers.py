"""Whole training runs, from text to a model in a folder: `train` for each kind of model."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

from kformer.tasks.language_model import LanguageModel
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.text_tagger import TextTagger
from kformer.tasks.translator import Translator
from kformer.training.kinds.classification_task import prepare_classifier
from kformer.training.kinds.language_task import prepare_language_model
from kformer.training.kinds.tagging_task import prepare_tagger
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.execution import run
from kformer.training.run.labelling_options import (
    ClassificationArguments,
    ClassificationOptions,
    LabellingArguments,
    TaggingOptions,
)
from kformer.training.run.run_folder import run_folder
from kformer.training.run.run_options import (
    LanguageArguments,
    LanguageOptions,
    TranslationArguments,
    TranslationOptions,
    with_options,
)

Paths = str | Path | list[str | Path]
Pairs = str | Path | Iterable[Any]


@with_options(TranslationOptions)
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
    shards: Paths | None = None,
    **options: Unpack[TranslationArguments],
) -> Translator:
    """Trains a translator and saves it in a folder.

    The folder holds `translator.keras`, the model of the best validation score (the last model
    without validation files); `history.json` and `history.png`; and `run.json`, the run config.
    While the run is unfinished, the folder holds its checkpoints, too. Called again with the same
    settings, `train` resumes from the newest one, and the weights at the end are the same to the
    bit (`resumable_fit`).

    Before the first step it prints the report of `check_corpus`. With `warm_start`,
    `kformer.training.warm_start` copies the weights of that translator. Several files, or folders
    of shards, are mixed by `weights` or `temperature` as in `translation_dataset`. `tokenizer` may
    be a translator with two vocabularies; if none is given, one is learned from the text of both
    sides, or one from each side if `recipe.target_vocab_size` is not 0.

    With `directions` or `both_directions`, the model translates in several directions: it has a
    symbol for each target language, one of which must be chosen for each translation, as
    `Translator.into` does. Each validation text is scored, and the mean chooses the best model.

    Args:
        recipe: All numbers of the run.
        source, target: A path or a list of paths of parallel text.
        output: The folder; must be given.
        valid_source, valid_target: The same, of the text that chooses the best model. Of several
            files each is scored, and the first one chooses.
        pairs, valid_pairs: Instead of such files: tables, or pairs in Python, as for `split_pairs`,
            with `columns`. For an exact resumption the pairs must be the same, in the same order.
        shards: Instead of text to train on: a path or a list of paths of folders that
            `prepare_shards` wrote, as for `shards_dataset`. Their tokenizer is used.
        options: `TranslationOptions`.

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
    files = {"pairs": pairs, "valid_pairs": valid_pairs, "shards": shards}
    validation = valid_source, valid_target
    with run_folder(output) as folder:
        return run(
            prepare_translation(recipe, source, target, folder, *validation, **files, **options)
        )


@with_options(ClassificationOptions)
def train_classifier(
    recipe: Recipe,
    train: Paths,
    output: str | Path,
    valid: Paths | None = None,
    **options: Unpack[ClassificationArguments],
) -> TextClassifier:
    """Trains a classifier and saves it in a folder, as `train` does a translator.

    The folder holds `classifier.keras` and the other files that `train` lists; an unfinished run is
    resumed in the same way, to the bit. `warm_start` may be a model of any kind, whose encoder is
    copied; from a classifier of the same labels, the head is copied, too.

    Args:
        recipe: All numbers of the run. `target_vocab_size`, `num_decoder_layers` and
            `max_length_ratio` must be 0, and `decoder_cell` "attention": there is no target.
        train: A path or a list of paths of labelled text, as for `classification_dataset`. Its
            labels, in alphabetical order, become the classifier's.
        output: The folder.
        valid: The same, of the text that chooses the best model. Of several files each is scored,
            and the first one chooses.
        options: `ClassificationOptions`.

    Returns:
        The best `TextClassifier`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`. The text may also have one label only, a label without
            text, or a label in `valid` that is not in `train`.
    """
    with run_folder(output) as folder:
        return run(prepare_classifier(recipe, train, folder, valid, **options))


@with_options(TaggingOptions)
def train_tagger(
    recipe: Recipe,
    train: Paths,
    output: str | Path,
    valid: Paths | None = None,
    **options: Unpack[LabellingArguments],
) -> TextTagger:
    """Trains a tagger and saves it as `tagger.keras` in a folder, as `train_classifier` does.

    Args:
        recipe: All numbers of the run; numbers of the target must be 0.
        train: A path or a list of paths of text in the style of CoNLL: a word, white space and its
            label on each line, and a blank line after each text.
        output: The folder.
        valid: The same, of the text that chooses the best model.
        options: `TaggingOptions`.

    Returns:
        The best `TextTagger`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`.
    """
    with run_folder(output) as folder:
        return run(prepare_tagger(recipe, train, folder, valid, **options))


@with_options(LanguageOptions)
def train_language_model(
    recipe: Recipe,
    text: Paths,
    output: str | Path,
    valid_text: Paths | None = None,
    **options: Unpack[LanguageArguments],
) -> LanguageModel:
    """Trains a language model and saves it in a folder, as `train` does a translator.

    The folder holds `language_model.keras` and the other files that `train` lists; an unfinished
    run is resumed in the same way, to the bit. `warm_start` must be another language model.

    Args:
        recipe: All numbers of the run. `target_vocab_size`, `num_decoder_layers` and
            `max_length_ratio` must be 0, and `decoder_cell` "attention": there is no target.
            `max_length` is the length of a row, and the largest number of positions of the model.
        text: A path or a list of paths of plain text.
        output: The folder.
        valid_text: The same, of the text that chooses the best model. Of several files each is
            scored, and the first one chooses.
        options: `LanguageOptions`.

    Returns:
        The best `LanguageModel`, as saved.

    Raises:
        FileExistsError, BlockingIOError, FileNotFoundError, ValueError, FloatingPointError,
            Interrupted: As for `train`.
    """
    with run_folder(output) as folder:
        return run(prepare_language_model(recipe, text, folder, valid_text, **options))
