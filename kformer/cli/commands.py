"""The subcommands by name, each in a module that is imported when it is needed."""

import importlib
from typing import NamedTuple

import typer

import kformer
from kformer.cli.on_runner import RunnerCommand
from kformer.cli.terminal.help_pages import HelpOfGroup, HelpPage

_START, _SHIP, _UNDERSTAND = "Start", "Ship", "Understand"
_TRAIN, _PRETRAINED = "Prepare and train", "Models of others"


class _Command(NamedTuple):
    """A subcommand.

    Attributes:
        module: Its module, which has a function of the command's name.
        group: Heading of the list that it is in.
        example: Command lines that can be copied.
    """

    module: str
    group: str
    example: str


_COMMANDS = {
    "demo": _Command("demos", _START, "kformer demo --quick --output demo"),
    "train": _Command(
        "train",
        _START,
        "kformer train --source train.de --target train.en --output runs/de-en \\\n"
        "    --valid-source valid.de --valid-target valid.en",
    ),
    "translate": _Command(
        "translate",
        _START,
        'kformer translate demo "Ein Hund läuft."\n'
        "kformer translate runs/de-en --input page.html --output page.en.html",
    ),
    "evaluate": _Command(
        "evaluate", _START, "kformer evaluate runs/de-en --source test.de --reference test.en"
    ),
    "export": _Command(
        "export", _SHIP, "kformer export runs/de-en --tflite de-en.tflite --web page"
    ),
    "publish": _Command(
        "publish",
        _SHIP,
        "kformer publish runs/de-en hf://me/de-en --licence MIT \\\n"
        '    --example "Ein Hund läuft."',
    ),
    "serve": _Command("serve", _SHIP, "kformer serve de-en.tflite --port 5000"),
    "request": _Command(
        "request",
        _SHIP,
        'kformer request http://localhost:5000 "Ein Hund läuft."\n'
        "kformer request http://localhost:8501 --input text.de --output text.en",
    ),
    "inspect": _Command("inspect", _UNDERSTAND, "kformer inspect de-en.tflite"),
    "compare": _Command(
        "compare",
        _UNDERSTAND,
        "kformer compare runs/old runs/new --source test.de --reference test.en",
    ),
    "attention": _Command(
        "attention_command",
        _UNDERSTAND,
        'kformer attention runs/de-en "Ein Hund läuft." --output attention.png',
    ),
    "align": _Command(
        "align", _UNDERSTAND, "kformer align runs/de-en --source test.de --target test.en"
    ),
    "score": _Command(
        "score", _UNDERSTAND, "kformer score runs/de-en --source test.de --target test.en --summary"
    ),
    "encode": _Command(
        "encode", _UNDERSTAND, "kformer encode runs/de-en --input text.de --output vectors.npy"
    ),
    "identify": _Command(
        "identify",
        _UNDERSTAND,
        'kformer identify "Guten Morgen!"\n'
        "kformer identify --input comments.txt --output languages.tsv",
    ),
    "split": _Command(
        "split",
        _TRAIN,
        "kformer split --source all.de --target all.en --output parts --valid 1000",
    ),
    "prepare": _Command(
        "prepare",
        _TRAIN,
        "kformer prepare --source all.de --target all.en --output shards\n"
        "kformer train --shards shards --output runs/de-en",
    ),
    "recipe": _Command("recipe_command", _TRAIN, "kformer recipe tiny"),
    "distill": _Command(
        "distill",
        _TRAIN,
        "kformer distill runs/de-en --source train.de --target train.en \\\n"
        "    --output runs/student --translations runs/student-text",
    ),
    "shortlist": _Command(
        "shortlist_command",
        _TRAIN,
        "kformer shortlist runs/de-en --source train.de --target train.en \\\n"
        "    --output shortlist.npz",
    ),
    "tune": _Command(
        "tune",
        _TRAIN,
        "kformer tune runs/de-en --source valid.de --reference valid.en \\\n"
        "    --output tuned.keras",
    ),
    "calibrate": _Command(
        "calibrate",
        _TRAIN,
        "kformer calibrate runs/de-en --source valid.de --reference valid.en",
    ),
}
_ON_RUNNERS = ("prepare", "translate")
_GROUPS = {  # The module of each, which has the group as its `app`, and `EXAMPLES` by command.
    "plot": ("plot_command", _UNDERSTAND),
    "classify": ("classify", _TRAIN),
    "tag": ("tag", _TRAIN),
    "lm": ("lm", _TRAIN),
    "import": ("importing", _PRETRAINED),
    "models": ("models_command", _PRETRAINED),
}


def app_for(arguments: list[str]) -> typer.Typer:
    """Returns the command with the subcommand that `arguments` name, or with all of them.

    To import them all takes longer than to translate a sentence.
    """
    app = typer.Typer(
        cls=HelpOfGroup,
        help="Train a translator on your own text, serve it, put it on a phone.\n\n"
        'To begin, try `kformer translate demo "Guten Morgen!"`; `kformer COMMAND --help` '
        "describes a command.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_options)
    names = [*_COMMANDS, *_GROUPS]
    for name in [name for name in arguments[:1] if name in names] or names:
        if name in _GROUPS:
            module, group = _GROUPS[name]
            app.add_typer(
                _group(_module(module)),
                name=name,
                cls=getattr(_module(module), "Group", HelpOfGroup),
                rich_help_panel=group,
            )
        else:
            command = _COMMANDS[name]
            app.command(
                name,
                cls=RunnerCommand if name in _ON_RUNNERS else HelpPage,
                rich_help_panel=command.group,
                epilog=command.example,
            )(getattr(_module(command.module), name))
    return app


def _module(place):
    return importlib.import_module(f"kformer.cli.{place}")


def _group(module):
    """Returns the group of a module, whose commands get help pages and the module's examples."""
    for command in module.app.registered_commands:
        command.cls = HelpPage
        command.epilog = module.EXAMPLES[command.name or command.callback.__name__]
    return module.app


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
