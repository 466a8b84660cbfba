"""Whole training runs, from text to a model in a folder: `train` for each kind of model."""

import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, Unpack

from kformer.kinds import CLASSIFIER, LANGUAGE_MODEL, TAGGER, TRANSLATOR
from kformer.near_names import check_names, near_name
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.text_classifier import TextClassifier
from kformer.tasks.text_tagger import TextTagger
from kformer.tasks.translator import Translator
from kformer.training.kinds.classification_task import prepare_classifier
from kformer.training.kinds.language_task import prepare_language_model
from kformer.training.kinds.tagging_task import prepare_tagger
from kformer.training.kinds.translation_task import prepare_translation
from kformer.training.recipes.recipe import Recipe, recipe_for
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
    RunOptions,
    TranslationArguments,
    TranslationOptions,
)

Paths = str | Path | list[str | Path]
Pairs = str | Path | Iterable[Any]
Trainer = TypeVar("Trainer", bound=Callable)


def _with_options(kind: type[RunOptions]) -> Callable[[Trainer], Trainer]:
    """Returns a decorator that shows options in the signature and the docstring of a trainer.

    `inspect.signature` then has the fields of `kind` instead of `**options`. In the docstring, the
    argument `options` becomes their descriptions. For an unknown argument, the trainer proposes the
    near one, or the number of a recipe that is meant.
    """

    def show(trainer):
        signature = inspect.signature(trainer)
        named = [*signature.parameters.values()][:-1]  # The last is `options`.
        fields = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=field.type,
            )
            for field in dataclasses.fields(kind)
        ]
        known = [parameter.name for parameter in (*named, *fields)]

        @functools.wraps(trainer)
        def checked(*args, **kwargs):
            _check_no_numbers(trainer.__name__, kwargs, known)
            check_names(trainer.__name__, kwargs, known)
            return trainer(*args, **kwargs)

        checked.__signature__ = signature.replace(parameters=[*named, *fields])
        lines = [
            textwrap.fill(
                f"{field.name}: {field.metadata['description']}",
                width=100,
                initial_indent=" " * 8,
                subsequent_indent=" " * 12,
                break_long_words=False,
            )
            for field in dataclasses.fields(kind)
        ]
        described = "\n".join(lines)
        checked.__doc__ = trainer.__doc__.replace(f"        options: `{kind.__name__}`.", described)
        return checked

    return show


def _check_no_numbers(trainer, arguments, known):
    """Raises a TypeError if an unknown argument means a number of a recipe."""
    numbers = [field.name for field in dataclasses.fields(Recipe)]
    for name, value in arguments.items():
        if name in known or (name not in numbers and near_name(name, known)):
            continue
        if number := near_name(name, numbers):
            raise TypeError(
                f"`{trainer}` has no argument `{name}`: it is a number of the recipe, as in "
                f'`Recipe.named("tiny", {number}=...)`. Received: {name}={value!r:.99}.'
            )


@_with_options(TranslationOptions)
def train(
    recipe: Recipe | str | None = None,
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
        recipe: All numbers of the run, or the name of a recipe; by default "tiny", and "fine-tune"
            with `warm_start`.
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

    Examples:
        >>> from kformer.training import train
        >>> translator = train("quick", "test.de", "test.en", output="runs/small")
        500 pairs; 500 are used. ...
        >>> len(translator.tokenizer)
        600
    """
    recipe = recipe_for(TRANSLATOR, recipe, options.get("warm_start"))
    files = {"pairs": pairs, "valid_pairs": valid_pairs, "shards": shards}
    validation = valid_source, valid_target
    with run_folder(_required(output)) as folder:
        return run(
            prepare_translation(recipe, source, target, folder, *validation, **files, **options)
        )


@_with_options(ClassificationOptions)
def train_classifier(
    recipe: Recipe | str | None = None,
    train: Paths | None = None,
    output: str | Path | None = None,
    valid: Paths | None = None,
    **options: Unpack[ClassificationArguments],
) -> TextClassifier:
    """Trains a classifier and saves it in a folder, as `train` does a translator.

    The folder holds `classifier.keras` and the other files that `train` lists; an unfinished run is
    resumed in the same way, to the bit. `warm_start` may be a model of any kind, whose encoder is
    copied; from a classifier of the same labels, the head is copied, too.

    Args:
        recipe: All numbers of the run, or the name of a recipe; by default "texts".
            `target_vocab_size`, `num_decoder_layers` and `max_length_ratio` must be 0, and
            `decoder_cell` "attention": there is no target.
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

    Examples:
        >>> from pathlib import Path
        >>> from kformer.training import Recipe, train_classifier
        >>> lines = ["good\\ta fine film", "bad\\ta dull film", "good\\tI like it"]
        >>> _ = Path("reviews.tsv").write_text("\\n".join(10 * lines))
        >>> recipe = Recipe.named("texts", epochs=2)
        >>> classifier = train_classifier(recipe, "reviews.tsv", output="runs/reviews")
        The text supports ... ids, ...
        >>> classifier.labels
        ('bad', 'good')
    """
    recipe = recipe_for(CLASSIFIER, recipe)
    with run_folder(_required(output, train=train)) as folder:
        return run(prepare_classifier(recipe, train, folder, valid, **options))


@_with_options(TaggingOptions)
def train_tagger(
    recipe: Recipe | str | None = None,
    train: Paths | None = None,
    output: str | Path | None = None,
    valid: Paths | None = None,
    **options: Unpack[LabellingArguments],
) -> TextTagger:
    """Trains a tagger and saves it as `tagger.keras` in a folder, as `train_classifier` does.

    Args:
        recipe: All numbers of the run, or the name of a recipe; by default "words". Numbers of the
            target must be 0.
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

    Examples:
        >>> from pathlib import Path
        >>> from kformer.training import Recipe, train_tagger
        >>> text = "Anna B-PER\\nlives O\\nin O\\nBonn B-LOC\\n\\n"
        >>> _ = Path("names.conll").write_text(20 * text)
        >>> recipe = Recipe.named("words", epochs=2)
        >>> tagger = train_tagger(recipe, "names.conll", output="runs/names")
        The text supports ... ids, ...
        >>> tagger.labels
        ('B-LOC', 'B-PER', 'O')
    """
    recipe = recipe_for(TAGGER, recipe)
    with run_folder(_required(output, train=train)) as folder:
        return run(prepare_tagger(recipe, train, folder, valid, **options))


@_with_options(LanguageOptions)
def train_language_model(
    recipe: Recipe | str | None = None,
    text: Paths | None = None,
    output: str | Path | None = None,
    valid_text: Paths | None = None,
    **options: Unpack[LanguageArguments],
) -> LanguageModel:
    """Trains a language model and saves it in a folder, as `train` does a translator.

    The folder holds `language_model.keras` and the other files that `train` lists; an unfinished
    run is resumed in the same way, to the bit. `warm_start` must be another language model.

    Args:
        recipe: All numbers of the run, or the name of a recipe; by default "lm", and "fine-tune"
            with `warm_start`. `target_vocab_size`, `num_decoder_layers` and `max_length_ratio` must
            be 0, and `decoder_cell` "attention": there is no target. `max_length` is the length of
            a row, and the largest number of positions of the model, unless it starts from one of
            more.
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

    Examples:
        >>> from kformer.training import Recipe, train_language_model
        >>> recipe = Recipe.named("lm", epochs=2)
        >>> model = train_language_model(recipe, "test.en", output="runs/text")
        The text supports ... ids, ...
        >>> model.generate("We ", max_length=5).startswith("We")
        True
    """
    recipe = recipe_for(LANGUAGE_MODEL, recipe, options.get("warm_start"))
    with run_folder(_required(output, text=text)) as folder:
        return run(prepare_language_model(recipe, text, folder, valid_text, **options))


def _required(output: str | Path | None, **arguments: Any) -> str | Path:
    """Returns `output`; raises a TypeError if it or another argument has the default, None."""
    missing = [name for name, value in (*arguments.items(), ("output", output)) if value is None]
    if output is None or missing:
        raise TypeError(f"A run needs `{missing[0]}`. Received: {missing[0]}=None.")
    return output
