"""`kformer attention`."""

import textwrap
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer import plot
from kformer.cli.common_models import KerasModel, TargetLanguage, check_is_keras, open_able_to
from kformer.cli.terminal.output_format import warn_of_flags
from kformer.cli.terminal.streams import quiet
from kformer.files import check_writable, replacing

_MOST_IN_GRID = 24  # Pieces of a side; in a grid of larger maps no label can be read.
_TITLE_WIDTH = 100  # Characters in a line.


class AttentionKind(StrEnum):
    """The kind of attention."""

    encoder = "encoder"
    decoder = "decoder"
    cross = "cross"


def attention(
    model: KerasModel,
    text: Annotated[str, typer.Argument(help="The sentence to translate, or the text to read.")],
    output: Annotated[
        Path | None, typer.Option(help="The picture to write: .png, .svg or .pdf.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="The web page to write: one file with every kind, layer and head, in which "
            "pointing at a piece shows what it attends to."
        ),
    ] = None,
    kind: Annotated[
        AttentionKind | None,
        typer.Option(
            help="Of the picture: self-attention of encoder or decoder, or cross-attention; by "
            "default the last that the model has."
        ),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(
            help="Of the picture: a layer, from 1; by default all, or of a long text their mean."
        ),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(
            help="Of the picture: a head, from 1; by default all, or of a long text their mean."
        ),
    ] = None,
    target_language: TargetLanguage = None,
):
    """Show the attention of a model while it translates a sentence, or reads a text."""
    check_is_keras(model, "shows its attention")
    _check(text, output, html, kind=kind, layer=layer, head=head)
    opened = open_able_to("attend", model, target_language)
    translation = None
    with quiet():
        if hasattr(opened, "translations"):
            [[translation, *_]] = opened.translations([text], details=False, split=False)
        views = opened.attend(text, *([translation.text] if translation else [])).views()
        if output:
            figure = draw(views, text, kind, layer, head)
    if output:
        plot.save_figure(figure, output)
        typer.echo(f"The picture is {output}")
    if html:
        with replacing(html) as temporary:
            temporary.write_text(plot.attention_page(views, text), "utf-8")
        typer.echo(f"The page is {html}")
    if translation:
        warn_of_flags(1, translation)


def _check(text, output, html, **picture_options):
    if not text.strip():
        raise ValueError(f"The text must not be blank. Received: text={text!r}.")
    if not (output or html):
        raise ValueError("Give --output for a picture, or --html for a page. Received: neither.")
    chosen = {name: value for name, value in picture_options.items() if value is not None}
    if chosen and not output:
        name, value = next(iter(chosen.items()))
        raise ValueError(
            f"A page has every kind, layer and head; --{name} is of a picture. "
            f"Received: {name}={value} without --output."
        )
    if output:
        plot.check_picture(output)
        check_writable(output)
    if html:
        if html.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"A page's name must end in .html. Received: html={str(html)!r}.")
        check_writable(html)


def draw(
    views: Any,
    text: str,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
):
    """Returns the figure of one `View`: a grid of layers and heads, or the chosen ones.

    Of a text of over `_MOST_IN_GRID` pieces it is one map, the mean of what is not chosen.
    """
    import numpy as np

    by_kind = {view.kind: view for view in views}
    kind = kind or [*by_kind][-1]
    if kind not in by_kind:
        recurrent = kind == "decoder" and "cross" in by_kind
        raise ValueError(
            f"The model has attention of the kind {', '.join(by_kind)}"
            + (", and an SSRU instead of the decoder's self-attention" if recurrent else "")
            + f". Received: kind={kind}."
        )
    _, queries, keys, grid = by_kind[kind]  # (L, H, Q, K)
    for name, number, most in (("layer", layer, grid.shape[0]), ("head", head, grid.shape[1])):
        if number is not None and not 1 <= number <= most:
            raise ValueError(f"The model has {name}s 1 to {most}. Received: {name}={number}.")
    layers = range(1, grid.shape[0] + 1) if layer is None else [layer]
    heads = range(1, grid.shape[1] + 1) if head is None else [head]
    chosen = grid[np.ix_([i - 1 for i in layers], [i - 1 for i in heads])]
    is_long = max(len(queries), len(keys)) > _MOST_IN_GRID
    parts = [f"{kind} attention"]
    for name, several in (("layer", layers), ("head", heads)):
        if len(several) == 1:
            parts.append(f"{name} {several[0]}")
        elif is_long:
            parts.append(f"mean of {len(several)} {name}s")
    names = {"layers": layers, "heads": heads}
    if is_long or chosen.shape[:2] == (1, 1):
        chosen, names = chosen.mean(axis=(0, 1)), {}
    # The text has a line of its own, in its own direction.
    title = f"{textwrap.fill(text, _TITLE_WIDTH)}\n{', '.join(parts)}"
    rows = "piece that attends" if kind == "encoder" else "piece that is written"
    return plot.plot_attention(chosen, queries, keys, title, axes=(rows, "attended to"), **names)
