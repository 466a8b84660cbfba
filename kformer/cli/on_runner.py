"""`--runner`: the command as a pipeline of Apache Beam, which gets the options of Beam."""

import contextlib
import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer import scale
from kformer.cli.terminal.help_pages import HelpPage
from kformer.cli.terminal.streams import quiet

Runner = Annotated[
    str | None,
    typer.Option(
        help="Run as a pipeline of Apache Beam, on DirectRunner, DataflowRunner, FlinkRunner or "
        "SparkRunner; further options are those of Beam.",
        rich_help_panel="At scale",
    ),
]
_WHAT_FLAGS_SAY = {
    "source cut": "lines were too long; only their beginning was translated",
    "length limit": "translations were cut at their largest length",
    "loop": "translations repeat themselves",
    "length ratio": "translations have a length that is absurd for their source",
}


class RunnerCommand(HelpPage):
    """A command that, given --runner, leaves options that it does not have for Beam.

    They are in the context's `args`. Without --runner, they are refused as usual.
    """

    def parse_args(self, ctx: Any, args: Any):
        if not any(_name(argument) == "--runner" for argument in args):
            return super().parse_args(ctx, args)
        own, beam_options = self._split(ctx, args)
        super().parse_args(ctx, own)
        ctx.args = beam_options
        return beam_options

    def _split(self, ctx, args):
        """Returns the command's own arguments, and Beam's options, each with its value."""
        known = {
            name
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        own, beam_options, needs_value = [], [], False
        for argument in args:
            is_option = argument.startswith("--")
            is_of_beam = _name(argument) not in known if is_option else needs_value
            (beam_options if is_of_beam else own).append(argument)
            needs_value = is_option and is_of_beam and "=" not in argument
        return own, beam_options


def _name(argument):
    return argument.partition("=")[0]


def check_beam(runner: str):
    """Raises a ValueError unless Apache Beam is installed."""
    if importlib.util.find_spec("apache_beam") is None:
        raise ValueError(
            f'A runner needs Apache Beam: pip install "kformer[beam]". Received: runner={runner!r}.'
        )


def _quiet(runner):
    """Silences runners on this machine; a cluster prints where to look at its work."""
    return quiet() if runner.lower() == "directrunner" else contextlib.nullcontext()


def prepare_on_runner(
    output: Path, source: list[Path] | None, target: list[Path] | None, runner: str, **settings: Any
):
    """Calls `kformer.scale.prepare_shards` without messages of libraries."""
    check_beam(runner)
    with _quiet(runner):
        return scale.prepare_shards(output, source, target, runner=runner, **settings)


def translate_on_runner(
    model: Path,
    input: Path | None,
    output: Path | None,
    runner: str,
    beam_options: list[str],
    refused: dict,
):
    """Translates a file; prints the number of translations with a problem."""
    check_beam(runner)
    if input is None or output is None:
        raise ValueError(
            "On a runner, --input and --output are files. "
            f"Received: input={input and str(input)!r}, output={output and str(output)!r}."
        )
    if options := [f"--{name.replace('_', '-')}" for name, value in refused.items() if value]:
        raise ValueError(
            "On a runner an export translates, with the search that was chosen for it, and writes "
            f"text alone. Received: {', '.join(options)}."
        )
    with _quiet(runner):
        flags = scale.translate_text(model, input, output, runner=runner, beam_options=beam_options)
    for flag, number in flags.items():
        typer.echo(f"kformer: {number:,} {_WHAT_FLAGS_SAY[flag]}.", err=True)
