"""`kformer recipe`."""

import dataclasses
import json
import shutil
import textwrap
from typing import Annotated

import typer

from kformer.training.recipes.recipe import Recipe, description_of, recipe_names


def recipe(
    name: Annotated[
        str | None, typer.Argument(help="Name of a recipe; without one, all are listed.")
    ] = None,
):
    """List the recipes of training runs, or print the numbers of one, as TOML."""
    width = min(shutil.get_terminal_size().columns, 100)
    if name is None:
        names = recipe_names()
        widest = max(map(len, names))
        for each in names:
            typer.echo(
                textwrap.fill(
                    f"{each:<{widest}}  {description_of(each)}",
                    width,
                    subsequent_indent=" " * (widest + 2),
                )
            )
        return
    numbers = Recipe.named(name)
    typer.echo(_comment(f"{name}: {description_of(name)}", width))
    for field in dataclasses.fields(Recipe):
        typer.echo(f"\n{_comment(field.metadata['description'], width)}")
        typer.echo(f"{field.name} = {json.dumps(getattr(numbers, field.name))}")


def _comment(text, width):
    return textwrap.fill(text, width, initial_indent="# ", subsequent_indent="# ")
