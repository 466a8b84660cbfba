"""`kformer attention`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import check_is_keras, open_translator
from kformer.cli.terminal.quiet import quiet


class Kind(StrEnum):
    """The kind of attention."""

    encoder = "encoder"
    decoder = "decoder"
    cross = "cross"


def attention(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    text: Annotated[str, typer.Argument(help="The sentence to translate.")],
    output: Annotated[Path, typer.Option(help="The picture to write: .png, .svg or .pdf.")],
    kind: Annotated[
        Kind, typer.Option(help="Self-attention of encoder or decoder, or cross-attention.")
    ] = Kind.cross,
    layer: Annotated[
        int | None, typer.Option(help="Number of the layer, from 1; by default all.")
    ] = None,
    head: Annotated[
        int | None, typer.Option(help="Number of the head, from 1; by default all.")
    ] = None,
):
    """Draw the attention of a model while it translates a sentence."""
    check_is_keras(model, "shows its attention")
    if not text.strip():
        raise ValueError(f"The text must not be blank. Received: text={text!r}.")
    translator = open_translator(model)
    with quiet():
        from kformer.plot import save_figure

        figure = draw(translator, text, kind, layer, head)
    save_figure(figure, output)
    typer.echo(f"The picture is {output}")


def draw(translator, text, kind=Kind.cross, layer=None, head=None):
    """Returns the figure of one sentence: a grid of layers and heads, or the chosen ones."""
    import numpy as np

    from kformer.plot import plot_attention

    maps = translator.attend(text)
    weights, queries, keys = {
        Kind.encoder: (maps.attention.encoder_self, maps.source, maps.source),
        Kind.decoder: (maps.attention.decoder_self, maps.target, maps.target),
        Kind.cross: (maps.attention.decoder_cross, maps.target, maps.source),
    }[kind]
    grid = np.stack([np.asarray(one)[0] for one in weights])  # (L, H, Q, K)
    for name, number, most in (("layer", layer, grid.shape[0]), ("head", head, grid.shape[1])):
        if number is not None and not 1 <= number <= most:
            raise ValueError(f"The model has {name}s 1 to {most}. Received: {name}={number}.")
    layers = slice(None) if layer is None else slice(layer - 1, layer)
    heads = slice(None) if head is None else slice(head - 1, head)
    chosen = grid[layers, heads]
    if chosen.shape[:2] == (1, 1):
        chosen = chosen[0, 0]
    return plot_attention(chosen, queries, keys, title=f"{text}  ({kind} attention)")
