"""`kformer distill`."""

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import check_is_keras, open_ensemble
from kformer.cli.options import with_options_of
from kformer.cli.resumption.resume import write_resumably
from kformer.cli.resumption.settings import settings_of
from kformer.cli.terminal.output_format import OutputFormat
from kformer.cli.training.runs import Flags, train_as_prepared
from kformer.training.distillation.options import DistillationOptions
from kformer.training.recipes.recipe import Recipe, recipe_names
from kformer.training.run.continuation import check_output

_Files = list[Path]


@with_options_of(Recipe, "Numbers that replace those of the recipe")
@with_options_of(Flags, names=["tokenizer", "overwrite", "restart", "tensorboard"])
@with_options_of(DistillationOptions, "How the teachers translate")
def distill(
    teachers: Annotated[
        _Files,
        typer.Argument(
            metavar="TEACHER", help=".keras files of one vocabulary; several are an ensemble."
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
        str, typer.Option(help=f"Numbers to start from: {', '.join(recipe_names())}.")
    ] = "student-tiny",
    translations: Annotated[
        Path | None,
        typer.Option(help="Folder for the teachers' translations; by default OUTPUT-text."),
    ] = None,
    translate_only: Annotated[
        bool, typer.Option("--translate-only", help="Translate, and train no student.")
    ] = False,
    **given,
):
    """Train a small, fast translator on the translations of larger ones, with their vocabulary.

    The same command goes on where it was stopped: what is translated is used, and training resumes.
    """
    flags, others = Flags.among(given)
    names = {field.name for field in dataclasses.fields(DistillationOptions)}
    options = DistillationOptions(**{name: others.pop(name) for name in names & {*others}})
    numbers = Recipe.named(recipe, **others)
    numbers.check_validation(valid_source)
    for teacher in teachers:
        check_is_keras(teacher, "can teach")
    from kformer.training.distillation.texts import missing, texts_to_teach  # Imports NumPy.

    folder = output.with_name(f"{output.name}-text") if translations is None else translations
    texts = texts_to_teach(teachers, source, target or [], folder, options)
    if missing(texts) and not translate_only:  # A run there would be on other text.
        check_output(output, flags.overwrite, restart=flags.restart)
    _translate(teachers, missing(texts), options)
    if translate_only:
        for text in texts:
            typer.echo(f"{text.translation} is the translation of {text.source}")
        return
    from kformer.training.translation.preparation import prepare

    sides = [text.source for text in texts], [text.translation for text in texts]
    training = {**flags.options(others), "tokenizer": flags.tokenizer or teachers[0]}
    train_as_prepared(
        lambda output: prepare(numbers, *sides, output, valid_source, valid_target, **training),
        *(output, flags),
    )


def _translate(teachers, texts: Sequence, options):
    """Translates texts, `kformer.training.distillation.texts.TextToTeach`, each to its file."""

    @functools.cache  # For all texts.
    def start():
        teacher = open_ensemble(teachers[0], teachers[1:])
        from kformer.training.distillation.teaching import Teaching  # Imports TensorFlow.

        return Teaching(teacher, options), None

    for text in texts:
        files = {"source": text.source, "target": text.reference}
        write_resumably(
            *(start, text.pairs(), text.lines(), OutputFormat.text, text.translation),
            settings_of(teachers[0], files, dataclasses.asdict(options)),
        )
