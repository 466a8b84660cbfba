"""`kformer train`, and what every command that trains shares."""

import dataclasses
import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kformer.arguments import check_choice
from kformer.cli.options import with_options_of
from kformer.cli.terminal.quiet import quiet
from kformer.training.recipes.recipe import SIZES, Recipe, recipe_names
from kformer.training.resumption.interruption import Interrupted
from kformer.training.run.folder import locked

_Files = list[Path]
BACKENDS = "tensorflow", "jax"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flags:
    """The options of every command that trains, besides its text and the numbers of its recipe."""

    warm_start: Annotated[
        Path | None,
        typer.Option(help="A .keras file to start from; the new model has its sizes."),
    ] = None
    new_vocabulary: Annotated[
        bool,
        typer.Option("--new-vocabulary", help="With --warm-start: learn a new vocabulary."),
    ] = False
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="A SentencePiece model or a .keras file with the vocabulary to use."),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check and describe the text and the run only."),
    ] = False
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a finished run in the folder, or a run with other settings. An "
            "unfinished run with the same settings is resumed.",
        ),
    ] = False
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Start again, and replace even an unfinished run with the same settings.",
        ),
    ] = False
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write logs for TensorBoard.")
    ] = False
    backend: Annotated[
        str | None,
        typer.Option(
            help=f"Backend of Keras: {' or '.join(BACKENDS)}. By default KERAS_BACKEND says it."
        ),
    ] = None

    @classmethod
    def among(cls, given: dict) -> "tuple[Flags, dict]":
        """Splits the options of a command into these and the numbers of a recipe."""
        names = {field.name for field in dataclasses.fields(cls)}
        flags = {name: value for name, value in given.items() if name in names}
        return cls(**flags), {name: value for name, value in given.items() if name not in names}

    def options(self, numbers: dict) -> dict:
        """Returns the fields of `RunOptions`; `numbers` are those that were given."""
        names = ("warm_start", "new_vocabulary", "tokenizer", "overwrite", "restart")
        sizes = {"vocab_size", "target_vocab_size", *SIZES} & {*numbers}
        return {"exact_sizes": sizes, **{name: getattr(self, name) for name in names}}


@with_options_of(Recipe, "Numbers that replace those of the recipe")
@with_options_of(Flags)
def train(
    output: Annotated[Path, typer.Option(help="Folder for the translator and its history.")],
    source: Annotated[_Files | None, typer.Option(help="Source text; may be repeated.")] = None,
    target: Annotated[_Files | None, typer.Option(help="Its translation, line by line.")] = None,
    valid_source: Annotated[
        _Files | None, typer.Option(help="Validation text, which chooses the best model.")
    ] = None,
    valid_target: Annotated[_Files | None, typer.Option(help="Its translation.")] = None,
    pairs: Annotated[
        _Files | None,
        typer.Option(
            help="Instead of --source and --target: source, tab and target on each line; or .csv "
            "or .jsonl with the columns source and target; may be .gz. May be repeated."
        ),
    ] = None,
    valid_pairs: Annotated[
        _Files | None, typer.Option(help="The same, instead of --valid-source.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Names of these columns in --pairs, such as de,en.")
    ] = None,
    shards: Annotated[
        _Files | None,
        typer.Option(help="Instead of text: a folder of kformer prepare. May be repeated."),
    ] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="With --shards: leave out damaged shards.")
    ] = False,
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
    target_tokenizer: Annotated[
        Path | None, typer.Option(help="As --tokenizer, for a target with its own vocabulary.")
    ] = None,
    **given,
):
    """Train a translator on parallel text, with Keras's model.fit.

    The text is two files, or one with pairs.

    The same command resumes an unfinished run.
    """
    if not (source or target or pairs or shards):
        raise ValueError(
            "Training needs --source and --target, --pairs, or --shards. Received: none of them."
        )
    flags, changes = Flags.among(given)
    arguments = (
        Recipe.named(recipe, **changes),
        *(source, target, output, valid_source, valid_target),
    )
    options = {
        **flags.options(changes),
        "weights": weight or None,
        "temperature": temperature,
        "target_tokenizer": target_tokenizer,
        "pairs": pairs or None,
        "valid_pairs": valid_pairs or None,
        "shards": shards or None,
        "skip_damaged": skip_damaged,
        "columns": None if columns is None else columns.split(","),
    }
    from kformer.training.translation.preparation import (
        prepare,
    )  # Imports NumPy, so only `train` does it.

    train_as_prepared(lambda: prepare(*arguments, **options), output, flags)


def train_as_prepared(prepare, output, flags):
    """Trains a run of any kind in the folder `output`, or describes it.

    Args:
        prepare: Function that checks the run and returns it, a `Prepared`.
        output: The folder.
        flags: `Flags`.
    """
    _choose_backend(flags.backend)
    if flags.dry_run:
        _report(prepare())
        return
    try:
        with locked(output):
            prepared = prepare()
            with quiet():
                from kformer.training.run.execution import run

            run(prepared, tensorboard=flags.tensorboard)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if flags.restart else "")
        typer.echo(f"kformer: {stopped} {again} to resume.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    task = prepared.task
    typer.echo(f"The {task.model} is {output / task.model_file}")


def _choose_backend(name):
    """Has Keras, which is not imported yet, run on the backend `name`; None for its own choice.

    Raises:
        ValueError: The backend is not one of `BACKENDS`, is not installed, or comes too late.
    """
    if name is None:
        return
    check_choice("backend", name, BACKENDS)
    if not importlib.util.find_spec(name):
        raise ValueError(
            "A backend must be installed; pip install 'kformer[jax]' installs that of JAX. "
            f"Received: backend={name!r}."
        )
    if "keras" in sys.modules:
        import keras

        if (running := keras.backend.backend()) != name:
            raise ValueError(
                "Keras keeps the backend that it was imported with. "
                f"Received: backend={name!r}, after {running!r}."
            )
    os.environ["KERAS_BACKEND"] = name


def _report(prepared):
    """Prints what the run would print before its first step."""
    with quiet():
        found = [*prepared.notes(), prepared.task.report(prepared)]
    typer.echo("\n".join(found))
    resumed = f" {str(prepared.output)!r} holds this run, which would be resumed."
    typer.echo(f"Dry run: nothing was written.{resumed * prepared.resumes}")
