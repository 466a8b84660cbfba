"""`kformer distill`."""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import kformer
from kformer.cli.command_options import LanguageOfTarget, with_options_of
from kformer.cli.common_models import ModelPath, a_file_of, check_is_keras, open_ensemble
from kformer.cli.run_flags import Flags, Settings, numbers_of, train_as_prepared
from kformer.cli.terminal.output_format import OutputFormat
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.cli.terminal.streams import quiet
from kformer.cli.unfinished import settings_of, write_resumably
from kformer.export.loading import saved_form
from kformer.text.bleu_tokenizers import bleu_tokenizer, warn_without_words
from kformer.text.text_files import read_lines
from kformer.training.distillation import (
    DistillationOptions,
    missing,
    shards_to_teach,
    texts_to_teach,
)
from kformer.training.recipes.recipe import TRANSLATION_MONITORS, Recipe, recipe_names
from kformer.training.run.continuation import check_output
from kformer.training.run.run_options import RunOptions
from kformer.training.shards.manifest import read_manifest

_Files = list[Path]
_OF_RUN = ("warm_start", "tokenizer", "overwrite", "restart", "max_hours", "tensorboard")
_RECIPE = "student-tiny"
_LOOKED_AT = 1000  # Lines of a reference, for words between spaces.


@with_options_of(Recipe, notes=numbers_of(_RECIPE))
@with_options_of(RunOptions, names=_OF_RUN)
@with_options_of(DistillationOptions, "How the teachers translate")
def distill(
    teachers: Annotated[
        list[ModelPath],
        a_file_of(
            ".keras files of one vocabulary; several are an ensemble. Or one folder of "
            "CTranslate2, with --distributions 0.",
            typer.Argument,
            metavar="TEACHER",
        ),
    ],
    source: Annotated[_Files, typer.Option(help="Text to translate; may be repeated.")],
    output: Annotated[Path, typer.Option(help="Folder for the student and its history.")],
    target: Annotated[
        _Files | None,
        typer.Option(
            help="Translation by people, of the last --source files: of several translations the "
            "student learns the one most like it. May be repeated."
        ),
    ] = None,
    valid_source: Annotated[
        _Files | None, typer.Option(help="Validation text, which chooses the best student.")
    ] = None,
    valid_target: Annotated[_Files | None, typer.Option(help="Its translation.")] = None,
    recipe: Annotated[
        str, typer.Option(help=f"Numbers to start from: {', '.join(recipe_names('translator'))}.")
    ] = _RECIPE,
    translations: Annotated[
        Path | None,
        typer.Option(help="Folder for the teachers' translations; by default OUTPUT-text."),
    ] = None,
    translate_only: Annotated[
        bool, typer.Option("--translate-only", help="Translate, and train no student.")
    ] = False,
    target_language: LanguageOfTarget = None,
    **settings: Any,
):
    """Train a small, fast translator on the translations of larger ones, with their vocabulary.

    The same command goes on where it was stopped: existing translations are used, and training
    resumes.
    """
    _, run_options, changes = Settings.among(settings, RunOptions)
    names = {field.name for field in dataclasses.fields(DistillationOptions)}
    options = DistillationOptions(**{name: changes.pop(name) for name in names & {*changes}})
    numbers = Recipe.named(recipe, "translator", **changes)
    tokenizer, restart = run_options.get("tokenizer"), "restart" in run_options
    numbers.check_validation(valid_source)
    _check_teachers(teachers, options)
    language = target_language or _language_of(teachers[0])
    options = _with_tokenizer(options, target or [], language)
    folder = output.with_name(f"{output.name}-text") if translations is None else translations
    texts = texts_to_teach(teachers, source, target or [], folder, options)
    shards = None
    if options.distributions:
        shards = shards_to_teach(texts, folder, options.distributions, numbers.max_length)
        _check_vocabulary(tokenizer, teachers[0])
    if missing(texts) and not translate_only:  # A run there would be on other text.
        check_output(output, "overwrite" in run_options, restart=restart)
    load = functools.cache(lambda: open_ensemble(teachers[0], teachers[1:]))
    _translate(load, teachers[0], missing(texts), options)
    if shards is not None:
        _ask(load, teachers[0], texts, shards, options.distributions, numbers.max_length)
    if translate_only:
        _print_files(texts, shards)
        return
    from kformer.training.kinds.translation_task import prepare_translation

    student_source, student_target = _sides(texts)
    vocabularies = {"tokenizer": tokenizer} if tokenizer else _vocabularies(teachers[0])
    training = {**run_options, **vocabularies}
    training["target_language"] = language
    if numbers.monitor in TRANSLATION_MONITORS:
        training["tokenize"] = options.tokenize
    if shards is not None:
        student_source = student_target = None
        training["shards"] = [shards]
    train_as_prepared(
        lambda output: prepare_translation(
            numbers,
            student_source,
            student_target,
            output,
            valid_source,
            valid_target,
            **training,
        ),
        output,
        Flags(),
        restart,
    )


def _is_folder(teacher):
    return saved_form(teacher) == "ctranslate2"


def _check_teachers(teachers, options):
    """Refuses forms that cannot teach, or not what the options want the student to learn."""
    if not any(map(_is_folder, teachers)):
        for teacher in teachers:
            check_is_keras(teacher, "or a folder of CTranslate2 can teach")
        return
    if len(teachers) > 1:
        raise ValueError(
            "A folder of CTranslate2 teaches alone: only .keras files are an ensemble. "
            f"Received: {', '.join(repr(str(teacher)) for teacher in teachers)}."
        )
    if options.distributions:
        raise ValueError(
            "CTranslate2 does not return how likely a teacher finds other ids: give "
            f"--distributions 0. Received: distributions={options.distributions} with "
            f"{str(teachers[0])!r}."
        )


def _language_of(teacher):
    """Returns the code of the language that a teacher translates into, or None."""
    if _is_folder(teacher):
        return kformer.load(teacher).target_language
    from kformer.tasks.keras_file import target_language_in  # It imports SentencePiece.

    return target_language_in(teacher)


def _vocabularies(teacher):
    """Returns the options of a run that has the vocabularies of a teacher."""
    if not _is_folder(teacher):
        return {"tokenizer": teacher}
    from kformer.export.ctranslate2_translator import SIDES

    source, target = (teacher / side for side in SIDES)
    if source.read_bytes() == target.read_bytes():
        return {"tokenizer": source}
    return {"tokenizer": source, "target_tokenizer": target}


def _with_tokenizer(options, references, language):
    """Returns options with the tokenizer of BLEU, if translations are compared by it.

    Args:
        language: Code of its language, or None.
    """
    if options.metric != "bleu" or not references:
        return options
    tokenizer = bleu_tokenizer(options.tokenize, language)
    for file in references:
        warn_without_words(list(itertools.islice(read_lines(file), _LOOKED_AT)), tokenizer)
    return dataclasses.replace(options, tokenize=tokenizer)


def _sides(texts):
    """Returns two lists of paths: the source files, and the files of their translations."""
    return [text.source for text in texts], [text.translation for text in texts]


def _print_files(texts, shards):
    """Prints which files hold the translations, and which folder the shards, if any."""
    for text in texts:
        typer.echo(f"{text.translation} is the translation of {text.source}")
    if shards is not None:
        typer.echo(f"{shards} has them as shards, with the teachers' likeliest ids of each word")


def _translate(load, first, texts: Sequence, options):
    """Translates texts, each to its file."""

    @functools.cache  # For all texts.
    def start():
        teacher = load()
        from kformer.training.distributions import Teaching  # Imports TensorFlow.

        return Teaching(teacher, options), None

    for text in texts:
        files = {"source": text.source, "target": text.reference}
        write_resumably(
            start,
            text.pairs(),
            text.lines(),
            OutputFormat.text,
            text.translation,
            settings_of(first, files, options.search()),
        )


def _check_vocabulary(tokenizer, teacher):
    """Raises a ValueError if the student would have another vocabulary than its teacher."""
    from kformer.training.run.run_vocabularies import read_vocabularies

    if tokenizer is not None and read_vocabularies(tokenizer) != read_vocabularies(teacher):
        raise ValueError(
            "A student with another vocabulary cannot learn how likely its teachers find their "
            "ids: --distributions 0 leaves that out. Received: tokenizer="
            f"{str(tokenizer)!r}, which is not that of {str(teacher)!r}."
        )


def _ask(load, first, texts, shards, number, max_length):
    """Writes texts as shards, with the teachers' likeliest ids; goes on with unfinished shards."""
    if shards.exists() and read_manifest(shards).teacher_ids:
        return
    with quiet():
        teacher = load()
        from kformer.training.distributions import add_distributions, write_shards

    if not shards.exists():
        write_shards(shards, *_sides(texts), first, max_length)
    with ProgressLine("Asking the teachers", read_manifest(shards).pairs, in_log=True) as progress:
        add_distributions(shards, teacher, number, progress.update)
