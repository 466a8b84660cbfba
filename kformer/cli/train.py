"""`kformer train`."""

import dataclasses
import inspect
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import SIZES, Recipe, recipe_names
from kformer.training.resumption.interruption import Interrupted
from kformer.training.run.folder import TRANSLATOR, locked

_Files = list[Path]


def _with_recipe_options(command):
    """Adds an option per field of `Recipe` to `command`, which takes them as `**numbers`."""
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                field.type | None,
                typer.Option(
                    help=field.metadata["description"],
                    rich_help_panel="Numbers that replace those of the recipe",
                    show_default=False,
                ),
            ],
        )
        for field in dataclasses.fields(Recipe)
    ]
    signature = inspect.signature(command)
    *own, _numbers = signature.parameters.values()
    command.__signature__ = signature.replace(parameters=[*own, *options])
    return command


@_with_recipe_options
def train(
    source: Annotated[_Files, typer.Option(help="Text to translate from; may be repeated.")],
    target: Annotated[_Files, typer.Option(help="Its translation, line by line.")],
    output: Annotated[Path, typer.Option(help="Folder for the translator and its history.")],
    valid_source: Annotated[
        _Files | None, typer.Option(help="Validation text, which chooses the best model.")
    ] = None,
    valid_target: Annotated[_Files | None, typer.Option(help="Its translation.")] = None,
    recipe: Annotated[
        str, typer.Option(help=f"Numbers to start from: {', '.join(recipe_names())}.")
    ] = "tiny",
    weight: Annotated[
        list[float] | None,
        typer.Option(help="Passes over the n-th source file per epoch; repeated like --source."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(help="Instead of --weight: above 1, small source files are read more often."),
    ] = None,
    warm_start: Annotated[
        Path | None,
        typer.Option(help="A .keras translator to start from; the model has its sizes."),
    ] = None,
    new_vocabulary: Annotated[
        bool,
        typer.Option("--new-vocabulary", help="With --warm-start: learn a new vocabulary."),
    ] = False,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            help="A SentencePiece model, or a .keras translator, whose vocabulary to use."
        ),
    ] = None,
    target_tokenizer: Annotated[
        Path | None, typer.Option(help="The same for the target, if it has its own vocabulary.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check and describe the text and the run; write nothing."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a finished run in the folder, or one of other settings. An unfinished "
            "run of the same settings is resumed.",
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Start again, and replace even an unfinished run of the same settings.",
        ),
    ] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write logs for TensorBoard, too.")
    ] = False,
    **numbers,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The same command resumes an unfinished run.
    """
    changes = {name: value for name, value in numbers.items() if value is not None}
    arguments = (
        Recipe.named(recipe, **changes),
        *(source, target, output, valid_source, valid_target),
    )
    options = {
        "weights": weight or None,
        "temperature": temperature,
        "warm_start": warm_start,
        "new_vocabulary": new_vocabulary,
        "tokenizer": tokenizer,
        "target_tokenizer": target_tokenizer,
        "exact_sizes": {"vocab_size", "target_vocab_size", *SIZES} & {*changes},
        "overwrite": overwrite,
        "restart": restart,
    }
    from kformer.training.run.preparation import prepare  # Imports NumPy, so only `train` does it.

    if dry_run:
        _report(prepare(*arguments, **options))
        return
    try:
        with locked(output):
            prepared = prepare(*arguments, **options)
            with quiet():
                from kformer.training.run.execution import run

            run(prepared, tensorboard=tensorboard)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if restart else "")
        typer.echo(f"kformer: {stopped} {again} to resume.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    typer.echo(f"The translator is {output / TRANSLATOR}")


def _report(prepared):
    """Prints what the run would print before its first step."""
    with quiet():
        from kformer.training.run.text import report

        found = report(prepared)
    typer.echo(found)
    resumed = f" {str(prepared.output)!r} holds this run, which would be resumed."
    typer.echo(f"Dry run: nothing was written.{resumed * prepared.resumes}")
