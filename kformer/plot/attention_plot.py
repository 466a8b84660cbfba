"""Heat maps of attention weights."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from kformer.plot.figures import fonts_for, rule

_MOST = 20.0  # Inches of all maps together, in each direction: 3,000 pixels of a PNG.
_LEGIBLE = 4.0  # Points of the smallest text.


def plot_attention(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str | None = None,
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    axes: tuple[str, str] = ("piece that attends", "attended to"),
) -> Figure:
    """Draws attention weights: queries down, keys across; darker cells have larger weights.

    Many heads of long texts are drawn below each other, and in smaller cells.

    Args:
        weights: float array (Q, K): one map. (H, Q, K): maps of one layer, one for each head.
            (L, H, Q, K): a grid of maps, a row for each layer. Values in [0, 1].
        queries: The Q pieces of text that attend. For a decoder, name each row by the piece that it
            writes there.
        keys: The K pieces of text that they attend to.
        title: Title of the picture.
        layers, heads: Numbers in the titles of the maps; by default from 1.
        axes: Names of the rows and of the columns.

    Returns:
        `Figure` whose axes are the maps, layer by layer, then the colour bar.

    Raises:
        ValueError: The shapes do not fit, or no installed font has a character.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> words = ["ich", "möchte", "bier"]
        >>> figure = kformer.plot_attention(np.eye(3), ["i", "want", "beer"], words, title="head 1")
        >>> figure.savefig("attention.png")
        >>> [axes.get_ylabel() for axes in figure.axes]  # The map, and its colour bar.
        ['piece that attends', 'attention weight']
    """
    weights = np.asarray(weights)
    if weights.ndim not in (2, 3, 4) or weights.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(
            "`weights` must be (Q, K), (H, Q, K) or (L, H, Q, K) for Q queries and K keys. "
            f"Received: weights.shape={weights.shape}, "
            f"len(queries)={len(queries)}, len(keys)={len(keys)}."
        )
    fonts = fonts_for([*queries, *keys, title or ""])
    names = _names(weights, layers, heads)
    maps = weights.reshape(-1, *weights.shape[-2:])
    rows, columns, cell = _layout(weights.shape)
    margins = 1.2 + 0.07 * min(40, max(map(len, [*queries, *keys])))
    figure = Figure(
        figsize=(
            columns * (len(keys) * cell + 0.2) + margins + 0.8,
            rows * (len(queries) * cell + 0.4) + margins,
        ),
        layout="compressed",
    )
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax, weight_map, name in zip(grid.flat, maps, names, strict=True):
        image = ax.imshow(weight_map, cmap="Blues", vmin=0, vmax=1)
        rule(ax, len(queries), len(keys))
        ax.set_title(name, fontsize="small")
    size = min(10, 72 * cell * 0.6)
    every = int(np.ceil(_LEGIBLE / size))  # Of pieces that are named.
    text = {"fontsize": max(size, _LEGIBLE), "family": fonts, "parse_math": False}
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    for ax in grid[-1]:
        ax.set_xticks(range(0, len(keys), every), keys[::every], **slanted, **text)
        ax.set_xlabel(axes[1])
    for ax in grid[:, 0]:
        ax.set_yticks(range(0, len(queries), every), queries[::every], **text)
    if rows == 1:
        grid[0, 0].set_ylabel(axes[0])
    else:  # Once for all rows: low maps have no room for one each.
        figure.supylabel(axes[0], fontsize="medium")
    figure.colorbar(image, ax=grid, label="attention weight", fraction=0.05, pad=0.02)
    if title:
        figure.suptitle(title, family=fonts, parse_math=False)
    return figure


def _names(weights, layers, heads):
    """Returns the titles of the maps, in their order; "" for a single map without numbers."""
    shape = (1,) * (4 - weights.ndim) + weights.shape
    layers = layers or range(1, shape[0] + 1)
    heads = heads or range(1, shape[1] + 1)
    return [
        ", ".join([f"layer {layer}"] * (weights.ndim > 3) + [f"head {head}"] * (weights.ndim > 2))
        for layer in layers
        for head in heads
    ]


def _layout(shape):
    """Returns the rows and columns of the maps, and the width of a cell in inches.

    Cells are larger for few pieces, and smaller in a grid of maps. A row of maps that is too wide
    becomes several, as square as they can be.
    """
    layers, heads, queries, keys = (1,) * (4 - len(shape)) + shape
    most = max(queries, keys)
    is_alone = layers * heads == 1
    cell = np.clip(3.2 / most, 0.22, 0.6) if is_alone else np.clip(1.8 / most, 0.14, 0.4)
    rows, columns = layers, heads
    if layers == 1 and heads * keys * cell > _MOST / 2:
        divisors = [n for n in range(heads, 0, -1) if heads % n == 0]
        columns = min(divisors, key=lambda n: max(n * keys, heads // n * queries))
        rows = heads // columns
    cell = min(cell, _MOST / (columns * keys), _MOST / (rows * queries))
    return rows, columns, float(cell)
