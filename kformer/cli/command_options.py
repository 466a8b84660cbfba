"""Options of a command from a dataclass: names, types, descriptions and defaults live there."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.common_models import a_file_of
from kformer.text.bleu_tokenizers import TOKENIZERS

Tokenize = Annotated[
    str | None,
    typer.Option(
        help=f"Tokenizer of BLEU: {', '.join(TOKENIZERS)}. By default that of the target language, "
        "if it is known, else 13a."
    ),
]
LanguageOfTarget = Annotated[
    str | None,
    typer.Option(
        metavar="LANGUAGE",
        help="Code of the language of the translations, such as ja: kept in the model, and chooses "
        "the tokenizer of BLEU.",
    ),
]
LanguageToScore = Annotated[
    str | None,
    typer.Option(
        help="Language of the translations, such as ja: chooses the tokenizer of BLEU, and of a "
        "model with several target languages the one to translate into."
    ),
]
SourceFiles = Annotated[
    list[Path] | None,
    typer.Option(help="Source text, plain or .gz, .bz2, .xz, .zst. May be repeated."),
]
TargetFiles = Annotated[list[Path] | None, typer.Option(help="Its translation, line by line.")]


def with_options_of(
    kind: type,
    panel: str | None = None,
    names: Collection[str] | None = None,
    notes: Mapping[str, str] | None = None,
):
    """Returns a decorator that adds an option to a command for each field of a dataclass.

    The command takes the options that the user set as keyword arguments; with several such
    decorators, the options of all of them.

    Args:
        panel: The options on the page of help that these are with; None for each field's `group`.
        names: Names of the fields; None for all.
    """
    notes = notes or {}
    fields = [field for field in dataclasses.fields(kind) if names is None or field.name in names]

    names_of_options = {
        field.name: option_name(field.metadata.get("option") or field.name)
        for field in dataclasses.fields(kind)
    }
    with_choices = {field.name for field in fields if field.metadata.get("choices")}

    def with_options(command):
        signature = inspect.signature(command)
        parameters = signature.parameters.values()
        own = [
            parameter
            for parameter in parameters
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        @functools.wraps(command)
        def run(**arguments):
            chosen = {
                name: value.value if name in with_choices else value
                for name, value in arguments.items()
                if value is not None
            }
            return command(**chosen)

        added = [
            _parameter(
                field,
                panel or field.metadata.get("group"),
                names_of_options,
                notes.get(field.name, ""),
            )
            for field in fields
        ]
        run.__signature__ = signature.replace(parameters=[*own, *added])
        return run

    return with_options


def _parameter(field, panel, names, note):
    """Returns the parameter of a command for a field; `names` has the options of arguments."""
    metadata = field.metadata
    kind = metadata.get("command_type", field.type)
    if "description" not in metadata:
        [option] = field.type.__metadata__
        option.rich_help_panel = panel or option.rich_help_panel
        return _keyword(field.name, field.default, field.type)
    shown = field.default is not dataclasses.MISSING and bool(field.default)  # False is not shown.
    settings = {"rich_help_panel": panel, "show_default": str(field.default) if shown else False}
    settings |= {"metavar": metadata.get("metavar")}
    if choices := metadata.get("choices"):
        kind = StrEnum(field.name, [(choice, choice) for choice in choices])
    name = metadata.get("option") or field.name
    has_name = metadata.get("is_flag") or metadata.get("option")
    declarations = [option_name(name)] if has_name else []
    create = typer.Option
    if metadata.get("is_model"):
        create, kind = a_file_of, Path
    described = re.sub(
        r"`(\w+)`",
        lambda match: names.get(match[1], match[0]),
        metadata["description"],
    )
    option = create(*declarations, help=described + note, **settings)
    return _keyword(field.name, None, Annotated[kind | None, option])


def option_name(name: str) -> str:
    """Returns the option of a command for an argument."""
    return f"--{name.replace('_', '-')}"


def _keyword(name, default, annotation):
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)
