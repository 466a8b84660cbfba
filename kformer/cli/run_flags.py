"""The options and the run that all commands for training share."""

import contextlib
import dataclasses
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from kformer.arguments import check_choice
from kformer.cli.command_options import with_options_of
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.progress_line import waiting
from kformer.cli.terminal.streams import quiet
from kformer.kinds import CLASSIFIER, LANGUAGE_MODEL, TAGGER, TRANSLATOR, Kind
from kformer.threads import a_core_for_each_operation
from kformer.training.recipes.recipe import OF_TRANSLATORS, RUN, SIZES, TEXT, Recipe
from kformer.training.resumption.interruption import Interrupted
from kformer.training.run.run_folder import run_folder
from kformer.training.run.run_options import RunOptions

BACKENDS = "tensorflow", "jax"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flags:
    """How this process runs: the options of every command that trains, beside those of the run."""

    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check and describe the text and the run only."),
    ] = False
    backend: Annotated[
        str | None,
        typer.Option(
            help=f"Backend of Keras: {' or '.join(BACKENDS)}. By default KERAS_BACKEND's."
        ),
    ] = None
    devices: Annotated[
        int | None,
        typer.Option(help="Devices that share each batch, on JAX; by default all of this machine."),
    ] = None
    model_parallel: Annotated[
        int,
        typer.Option(help="Devices that share one copy of a model too large for one, on JAX."),
    ] = 1
    coordinator: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT of process 0, if several processes train together, on JAX. Nobody else "
            "may reach this port."
        ),
    ] = None
    processes: Annotated[int | None, typer.Option(help="Number of these processes.")] = None
    process: Annotated[
        int | None, typer.Option(help="Number of this process, from 0; process 0 writes the run.")
    ] = None


WITHOUT_TARGET = [
    field.name for field in dataclasses.fields(Recipe) if field.name not in OF_TRANSLATORS
]


def numbers_of(recipe: str) -> dict[str, str]:
    """Returns the numbers of a recipe as notes behind the descriptions of options."""
    values = dataclasses.asdict(Recipe.named(recipe)).items()
    words = {True: "on", False: "off"}
    return {
        name: f"  [{recipe}: {words[value] if isinstance(value, bool) else value}]"
        for name, value in values
    }


def with_options_of_run(
    kind: type[RunOptions], recipe: str, numbers: Collection[str] | None = None
) -> Callable:
    """Returns a decorator that adds all options of a training run to a command.

    Args:
        numbers: Names of the numbers of a recipe; None for all.
    """
    fields = dataclasses.fields(kind)
    names = [field.name for field in fields if field.metadata["in_commands"]]

    def with_all(command):
        for parameter in inspect.signature(command).parameters.values():
            for option in getattr(parameter.annotation, "__metadata__", ()):
                option.rich_help_panel = option.rich_help_panel or TEXT
        command = with_options_of(kind, names=names)(with_options_of(Flags, RUN)(command))
        return with_options_of(Recipe, names=numbers, notes=numbers_of(recipe))(command)

    return with_all


class Settings(NamedTuple):
    """The options of a command that trains.

    Attributes:
        flags: How this process runs.
        options: Options of the run, by name.
        numbers: Numbers of the recipe, by name.
    """

    flags: Flags
    options: dict[str, Any]
    numbers: dict[str, Any]

    @classmethod
    def among(cls, settings: dict, kind: type[RunOptions]) -> "Settings":
        """Splits the options of a command, with the options of a run of a kind."""
        flags, rest = _of(Flags, settings)
        options, numbers = _of(kind, rest)
        options = {name: value for name, value in options.items() if value != []}
        sizes = {"vocab_size", "target_vocab_size", *SIZES} & {*numbers}
        return cls(Flags(**flags), {"exact_sizes": sizes, **options}, numbers)


def _of(kind, settings):
    """Splits settings into the fields of a dataclass and the others."""
    names = {field.name for field in dataclasses.fields(kind)}
    fields = {name: value for name, value in settings.items() if name in names}
    return fields, {name: value for name, value in settings.items() if name not in names}


def train_on_text(
    kind: Kind,
    options_class: type[RunOptions],
    recipe: str,
    files: Sequence,
    output: Path,
    settings: dict[str, Any],
):
    """Trains a model of a kind that reads one text, or describes its run.

    Args:
        files: Paths of the text to train on; paths of the validation text, or None.
    """
    flags, options, changes = Settings.among(settings, options_class)
    numbers, (text, valid) = Recipe.named(recipe, kind.words, **changes), files
    from kformer.training.run.run_preparation import prepare_text  # Imports NumPy.

    task = kind.part("task")
    train_as_prepared(
        lambda folder: prepare_text(task, numbers, text, folder, valid, **options),
        output,
        flags,
        restart="restart" in options,
    )


def train_as_prepared(prepare: Callable, output: Path, flags: Flags, restart: bool = False):
    """Trains a run of any kind in the folder `output`, or describes it."""
    _choose_backend(flags.backend)

    def prepared(folder):
        with waiting("Reading the text"):
            return prepare(folder)

    if flags.dry_run:
        _report(prepared(output), flags)
        return
    try:
        with _processes(flags), run_folder(output) as folder:
            trained = _train(prepared(folder), flags)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if restart else "")
        typer.echo(f"kformer: {stopped} {again} to resume.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    if not flags.process:
        kind = trained.task.kind
        typer.echo(f"The {kind.words} is {output / kind.file}")
        if trained.config["useful"]:
            suggest(*_TO_USE[kind], output)


_TO_USE = {  # The command that uses a model of a kind.
    TRANSLATOR: ("kformer", "translate"),
    CLASSIFIER: ("kformer", "classify", "predict"),
    TAGGER: ("kformer", "tag", "predict"),
    LANGUAGE_MODEL: ("kformer", "lm", "generate"),
}


def _processes(flags):
    """Returns a context in which this process trains together with others, if there are any."""
    team_settings = flags.coordinator, flags.processes, flags.process
    if team_settings == (None, None, None) and os.environ.get("KERAS_BACKEND") != "jax":
        return contextlib.nullcontext()  # Without importing Keras, which takes seconds.
    with quiet():
        from kformer.training.parallel.hosts import join_processes

    return join_processes(*team_settings)


def _train(prepared, flags):
    with quiet():
        from kformer.training.parallel.devices import distribute
        from kformer.training.run.execution import run

        _share_cores()
    with distribute(flags.devices, flags.model_parallel):
        run(prepared)
    return prepared


def _share_cores():
    """Has each core train a part of each batch, on a processor of few cores.

    The gradients of the parts are summed on one core, which takes longer with more parts; two
    cores were measured.
    """
    from kformer.decoding.runtime import max_parallel_batches  # Imports Keras.

    if 1 < max_parallel_batches() <= 4:
        a_core_for_each_operation()


def _choose_backend(name):
    """Has Keras, which is not imported yet, run on the backend `name`; None for its own choice."""
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


def _report(prepared, flags):
    """Prints the report that the run would print before its first step."""
    with quiet():
        from kformer.training.parallel.devices import check_fits, distribute

        with distribute(flags.devices, flags.model_parallel):
            check_fits(prepared.recipe, prepared.vocabularies.sizes())
            report = prepared.report()
    typer.echo(report)
    resumed = f" {str(prepared.output)!r} holds this run, which would be resumed."
    typer.echo(f"Dry run: nothing was written.{resumed * prepared.resumes}")
