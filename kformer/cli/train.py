"""`kformer train`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.options import with_options_of
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import SIZES, Recipe, recipe_names
from kformer.training.resumption.interruption import Interrupted
from kformer.training.run.folder import locked

_Files = list[Path]


@with_options_of(Recipe, "Numbers that replace those of the recipe")
def train(
    source: Annotated[_Files, typer.Option(help="Source text; may be repeated.")],
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
        typer.Option(help="A .keras file to start from; the new model has its sizes."),
    ] = None,
    new_vocabulary: Annotated[
        bool,
        typer.Option("--new-vocabulary", help="With --warm-start: learn a new vocabulary."),
    ] = False,
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="A SentencePiece model or a .keras file with the vocabulary to use."),
    ] = None,
    target_tokenizer: Annotated[
        Path | None, typer.Option(help="The same for a target with its own vocabulary.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check and describe the text and the run only."),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a finished run in the folder, or a run with other settings. An "
            "unfinished run with the same settings is resumed.",
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Start again, and replace even an unfinished run with the same settings.",
        ),
    ] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write logs for TensorBoard.")
    ] = False,
    **changes,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The same command resumes an unfinished run.
    """
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
    from kformer.training.translation.task import prepare  # Imports NumPy, so only `train` does it.

    train_as_prepared(lambda: prepare(*arguments, **options), output, dry_run, restart, tensorboard)


def train_as_prepared(prepare, output, dry_run=False, restart=False, tensorboard=False):
    """Trains a run of any kind in the folder `output`, or describes it.

    Args:
        prepare: Function that checks the run and returns it, a `Prepared`.
        output: The folder.
        dry_run: Whether to print what the run would print before its first step, and no more.
        restart: Whether the user asked to start again.
        tensorboard: Whether to write logs for TensorBoard.
    """
    if dry_run:
        _report(prepare())
        return
    try:
        with locked(output):
            prepared = prepare()
            with quiet():
                from kformer.training.run.execution import run

            run(prepared, tensorboard=tensorboard)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if restart else "")
        typer.echo(f"kformer: {stopped} {again} to resume.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    task = prepared.task
    typer.echo(f"The {task.model} is {output / task.model_file}")


def _report(prepared):
    """Prints what the run would print before its first step."""
    with quiet():
        found = [*prepared.notes(), prepared.task.report(prepared)]
    typer.echo("\n".join(found))
    resumed = f" {str(prepared.output)!r} holds this run, which would be resumed."
    typer.echo(f"Dry run: nothing was written.{resumed * prepared.resumes}")
