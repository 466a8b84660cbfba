"""Heat maps of attention weights."""

import numpy as np
from matplotlib.figure import Figure

from kformer.plot.figures import fonts_for, rule


def plot_attention(weights, queries, keys, title: str | None = None) -> Figure:
    """Draws attention weights: queries down, keys across; darker cells have larger weights.

    Args:
        weights: float array (Q, K): one map. (H, Q, K): a row of maps, one for each head.
            (L, H, Q, K): a grid of maps, a row for each layer. Values in [0, 1].
        queries: The Q pieces of text that attend.
        keys: The K pieces of text that they attend to.
        title: Title of the picture.

    Returns:
        `Figure` whose axes are the maps, layer by layer, then the colour bar.

    Raises:
        ValueError: The shapes do not fit, or no installed font has a character.
    """
    weights = np.asarray(weights)
    if weights.ndim not in (2, 3, 4) or weights.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(
            "`weights` must be (Q, K), (H, Q, K) or (L, H, Q, K) for Q queries and K keys. "
            f"Received: weights.shape={weights.shape}, "
            f"len(queries)={len(queries)}, len(keys)={len(keys)}."
        )
    fonts = fonts_for([*queries, *keys, title or ""])
    grid = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)  # (L, H, Q, K)
    layers, heads = grid.shape[:2]
    cell = _cell_size(max(len(queries), len(keys)), alone=layers * heads == 1)  # Inches.
    margins = 1.2 + 0.07 * max(map(len, [*queries, *keys]))
    figure = Figure(
        figsize=(
            heads * (len(keys) * cell + 0.2) + margins + 0.8,
            layers * (len(queries) * cell + 0.4) + margins,
        ),
        layout="compressed",
    )
    axes = figure.subplots(layers, heads, squeeze=False, sharex=True, sharey=True)
    for (layer, head), ax in np.ndenumerate(axes):
        image = ax.imshow(grid[layer, head], cmap="Blues", vmin=0, vmax=1)
        rule(ax, len(queries), len(keys))
        if weights.ndim > 2:
            row = f"layer {layer + 1}, " if weights.ndim == 4 else ""
            ax.set_title(f"{row}head {head + 1}", fontsize="small")
    text = {"fontsize": min(10, 72 * cell * 0.6), "family": fonts, "parse_math": False}
    for ax in axes[-1]:
        ax.set_xticks(
            range(len(keys)), keys, rotation=45, ha="right", rotation_mode="anchor", **text
        )
        ax.set_xlabel("keys (attended to)")
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(queries)), queries, **text)
        ax.set_ylabel("queries (attending)")
    figure.colorbar(image, ax=axes, label="attention weight", fraction=0.05, pad=0.02)
    if title:
        figure.suptitle(title, family=fonts, parse_math=False)
    return figure


def _cell_size(pieces, alone):
    """Returns the width of a cell in inches: larger for few pieces, smaller in a grid of maps."""
    return float(np.clip(3.2 / pieces, 0.22, 0.6) if alone else np.clip(1.8 / pieces, 0.14, 0.4))
