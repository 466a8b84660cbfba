"""The options and the run that all commands for training share."""

import contextlib
import dataclasses
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.arguments import check_choice, check_number
from kformer.cli.common_models import a_file_of
from kformer.cli.terminal.streams import quiet
from kformer.threads import a_core_for_each_operation
from kformer.training.recipes.recipe import SIZES
from kformer.training.resumption.interruption import Interrupted
from kformer.training.run.run_folder import run_folder

BACKENDS = "tensorflow", "jax"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flags:
    """The options of every command that trains, besides its text and the numbers of its recipe."""

    warm_start: Annotated[
        Path | None,
        a_file_of("A .keras file to start from; the new model has its sizes."),
    ] = None
    new_vocabulary: Annotated[
        bool,
        typer.Option("--new-vocabulary", help="With --warm-start: learn a new vocabulary."),
    ] = False
    tokenizer: Annotated[
        Path | None,
        a_file_of("A SentencePiece model or a .keras file with the vocabulary to use."),
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
    max_hours: Annotated[
        float | None,
        typer.Option(
            help="Hours of training, at most: it ends after the last validation that comes in "
            "time. See --validate-every for more of these."
        ),
    ] = None
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write logs for TensorBoard.")
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
            help="HOST:PORT of process 0, if several processes train together, on JAX. All need "
            "one secret in KFORMER_RUN_SECRET."
        ),
    ] = None
    processes: Annotated[int | None, typer.Option(help="Number of these processes.")] = None
    process: Annotated[
        int | None, typer.Option(help="Number of this process, from 0; process 0 writes the run.")
    ] = None

    @classmethod
    def among(cls, settings: dict) -> "tuple[Flags, dict]":
        """Splits the options of a command into these and the numbers of a recipe."""
        names = {field.name for field in dataclasses.fields(cls)}
        flags = {name: value for name, value in settings.items() if name in names}
        return cls(**flags), {name: value for name, value in settings.items() if name not in names}

    def options(self, numbers: dict) -> dict:
        """Returns the fields of `RunOptions`; `numbers` are those that were given."""
        names = ("warm_start", "new_vocabulary", "tokenizer", "overwrite", "restart")
        sizes = {"vocab_size", "target_vocab_size", *SIZES} & {*numbers}
        return {"exact_sizes": sizes, **{name: getattr(self, name) for name in names}}


def train_as_prepared(prepare: Callable, output: Any, flags: Any):
    """Trains a run of any kind in the folder `output`, or describes it.

    Args:
        prepare: Function from a folder to the run in it, a `Prepared`, which it checks.
        output: The folder.
        flags: `Flags`.
    """
    if flags.max_hours is not None:
        check_number("max_hours", flags.max_hours, above=0)
    _choose_backend(flags.backend)
    if flags.dry_run:
        _report(prepare(output), flags)
        return
    try:
        with _processes(flags), run_folder(output) as folder:
            task = _train(prepare(folder), flags)
    except Interrupted as stopped:
        again = "Run the same command" + (", without --restart," if flags.restart else "")
        typer.echo(f"kformer: {stopped} {again} to resume.", err=True)
        raise typer.Exit(stopped.exit_code) from stopped
    if not flags.process:
        typer.echo(f"The {task.kind.words} is {output / task.kind.file}")


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
        run(prepared, tensorboard=flags.tensorboard, max_hours=flags.max_hours)
    return prepared.task


def _share_cores():
    """Has each core train a part of each batch, on a processor of few cores.

    The gradients of the parts are summed on one core, which takes longer with more parts; two
    cores were measured.
    """
    from kformer.decoding.runtime import max_parallel_batches  # Imports Keras.

    if 1 < max_parallel_batches() <= 4:
        a_core_for_each_operation()


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


def _report(prepared, flags):
    """Prints the report that the run would print before its first step."""
    with quiet():
        from kformer.training.parallel.devices import check_fits, distribute

        with distribute(flags.devices, flags.model_parallel):
            check_fits(prepared.recipe, prepared.vocabularies.sizes())
            lines = [*prepared.notes(), prepared.task.report(prepared)]
    typer.echo("\n".join(lines))
    resumed = f" {str(prepared.output)!r} holds this run, which would be resumed."
    typer.echo(f"Dry run: nothing was written.{resumed * prepared.resumes}")
