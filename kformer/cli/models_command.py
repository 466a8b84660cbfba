"""`kformer models`: published models in the cache, and those that can be downloaded."""

from typing import Annotated

import typer

from kformer.cli.terminal.streams import remark
from kformer.imports.published.model_names import offers, published_name

EXAMPLES = {"remove": "kformer models remove firefox://en-pt"}
app = typer.Typer(help="List the published models that were downloaded, or that can be.")
_ALL = "all"


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    available: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="List what the known places have from or into a language, such as de, instead of "
            f"what is in the cache; {_ALL} for every language.",
        ),
    ] = None,
):
    """List published models: their names, languages, sizes and licences."""
    if context.invoked_subcommand:
        return
    if available:
        language = None if available == _ALL else available
        rows = [(*offer,) for offer in offers(language, _missed)]
        if not rows:
            typer.echo(f"No place has a model of {available}.", err=True)
    else:
        from kformer.imports.published.model_cache import cache_folder, cached_models

        names = ("name", "source_language", "target_language")
        rows = [
            (*(model.facts.get(name) for name in names), model.bytes, model.facts.get("licence"))
            for model in cached_models()
        ]
        if not rows:
            typer.echo(
                f"No model is in {str(cache_folder())!r}: `kformer models --available de` lists "
                "what can be downloaded.",
                err=True,
            )
    for row in rows:
        typer.echo("\t".join(_cells(*row)))


def _missed(place, error):
    remark(f"{place}:// is left out. {error}")


def _cells(name, source, target, size, licence):
    """Returns the columns of a line: name, languages, megabytes and licence."""
    pair = "-".join(filter(None, (source, target)))
    return [name, pair or "?", f"{size / 1e6:.1f} MB" if size else "?", licence or "?"]


@app.command()
def remove(
    names: Annotated[
        list[str], typer.Argument(help="As `kformer models` lists them.", metavar="NAME...")
    ],
):
    """Remove published models from the cache."""
    from kformer.imports.published.model_cache import remove_model

    for name in names:
        published = published_name(name)
        if published is None:
            raise ValueError(
                f"A name as `kformer models` lists them is needed. Received: {name!r}."
            )
        remove_model(published)
        typer.echo(f"Removed: {published}")
