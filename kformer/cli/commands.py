"""The subcommands by name, each in a module that is imported when it is needed."""

import importlib

import typer

import kformer
from kformer.cli.on_runner import RunnerCommand

_COMMANDS = {  # The module of each, which has a function of the same name.
    "split": "split",
    "prepare": "prepare",
    "train": "train",
    "distill": "distill",
    "shortlist": "shortlist_command",
    "translate": "translate",
    "evaluate": "evaluate",
    "compare": "compare",
    "tune": "tune",
    "score": "score",
    "encode": "encode",
    "align": "align",
    "calibrate": "calibrate",
    "inspect": "inspect",
    "export": "export",
    "request": "request",
    "serve": "serve",
    "attention": "attention_command",
    "demo": "demos",
}
_ON_RUNNERS = ("prepare", "translate")
_GROUPS = {  # The module of each, which has the group as its `app`.
    "classify": "classify",
    "tag": "tag",
    "lm": "lm",
    "import": "importing",
    "plot": "plot_command",
}


def app_for(arguments: list[str]) -> typer.Typer:
    """Returns the command with the subcommand that `arguments` name, or with all of them.

    To import them all takes longer than to translate a sentence.
    """
    app = typer.Typer(
        help="Train a translator on your own text, serve it, put it on a phone.",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_options)
    names = [*_COMMANDS, *_GROUPS]
    for name in [name for name in arguments[:1] if name in names] or names:
        if name in _GROUPS:
            app.add_typer(_module(_GROUPS[name]).app, name=name)
        else:
            kind = RunnerCommand if name in _ON_RUNNERS else None
            app.command(name, cls=kind)(getattr(_module(_COMMANDS[name]), name))
    return app


def _module(place):
    return importlib.import_module(f"kformer.cli.{place}")


def _print_version(wanted: bool):
    if wanted:
        typer.echo(f"kformer {kformer.__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version."
    ),
):
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
