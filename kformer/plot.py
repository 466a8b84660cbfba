"""Pictures: attention heat maps and learning curves.

They need matplotlib and no window: every function returns a new `Figure`.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, MaxNLocator

from kformer.arguments import check_integer
from kformer.files import replacing

FONT = "DejaVu Sans"  # Part of matplotlib; has umlauts and SentencePiece's "▁".
SUFFIXES = (".pdf", ".png", ".svg")
CURVES = {"training": "#1f5fa8", "validation": "#e07b00"}
BEST = "best epoch"
VALIDATION = "val_"  # Prefix of the metrics of validation data.
PANELS = {  # Titles of the first learning curves, in their order.
    "loss": "loss",
    "bleu": "BLEU",
    "chrf": "chrF",
    "accuracy": "accuracy",
    "perplexity": "perplexity",
    "learning_rate": "learning rate",
    "tokens/s": "tokens/s",
    "texts/s": "texts/s",
}
FROM_ZERO = (
    "learning_rate",
    "tokens/s",
    "texts/s",
)  # Axes from 0, so that small changes do not look large.


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
    """
    weights = np.asarray(weights)
    if weights.ndim not in (2, 3, 4) or weights.shape[-2:] != (len(queries), len(keys)):
        raise ValueError(
            "`weights` must be (Q, K), (H, Q, K) or (L, H, Q, K) for Q queries and K keys. "
            f"Received: weights.shape={weights.shape}, "
            f"len(queries)={len(queries)}, len(keys)={len(keys)}."
        )
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
        _rule(ax, len(queries), len(keys))
        if weights.ndim > 2:
            row = f"layer {layer + 1}, " if weights.ndim == 4 else ""
            ax.set_title(f"{row}head {head + 1}", fontsize="small")
    text = {"fontsize": min(10, 72 * cell * 0.6), "family": FONT, "parse_math": False}
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
        figure.suptitle(title)
    return figure


def _cell_size(pieces, alone):
    """Returns the width of a cell in inches: larger for few pieces, smaller in a grid of maps."""
    return float(np.clip(3.2 / pieces, 0.22, 0.6) if alone else np.clip(1.8 / pieces, 0.14, 0.4))


def _rule(ax, rows, columns):
    """Draws fine lines between the cells, and no tick marks."""
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.88", linewidth=0.5)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_color("0.7")


def plot_history(history: dict[str, list[float]], best: int | None = None) -> Figure:
    """Draws learning curves: a panel for each metric, training and validation in it.

    Args:
        history: The metrics of every epoch, as in the `history` of what `fit` returns: "loss",
            "val_loss" and so on. A NaN leaves a gap. "epoch", if present, has the place of each
            value on the horizontal axis, such as 1.25 for a validation within the second epoch.
        best: The epoch to mark, from 1: that of the best weights. With "epoch" in the history, it
            is the index in each list, from 1.

    Returns:
        `Figure` whose axes are the panels: loss, scores, other metrics, speed.
    """
    history = {**history}
    where = history.pop("epoch", None)
    history.pop("step", None)
    metrics = {name.removeprefix(VALIDATION): None for name in history}
    if not metrics:
        raise ValueError(f"`history` must hold at least one metric. Received: history={history}.")
    longest = max(map(len, history.values()))
    if best is not None:
        check_integer("best", best, least=1, most=longest)
    where = where or [*range(1, longest + 1)]
    order = [metric for metric in PANELS if metric in metrics]
    order += [metric for metric in metrics if metric not in PANELS]
    columns = 2 if len(order) == 4 else min(3, len(order))
    rows = -(-len(order) // columns)
    figure = Figure(figsize=(4 * columns, 3 * rows + 0.4), layout="constrained")
    lines = {}
    for i, metric in enumerate(order):
        ax = figure.add_subplot(rows, columns, i + 1)
        lines |= _plot_metric(ax, history, metric, where, best)
        ax.set_xlabel("epoch")
        ax.set_xlim(min(where[0] - 0.5, 0.5), where[-1] + 0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    names = [name for name in (*CURVES, BEST) if name in lines]
    labels = [f"{name}: {where[best - 1]:g}" if name == BEST else name for name in names]
    figure.legend(
        [lines[name] for name in names],
        labels,
        loc="outside upper left",
        ncols=len(names),
        frameon=False,
    )
    return figure


def _plot_metric(ax, history, metric, where, best):
    """Draws the curves of one metric; returns its lines by what they show."""
    lines = {}
    for name, key in [("training", metric), ("validation", VALIDATION + metric)]:
        values = history.get(key, [])
        if len(values):
            (lines[name],) = ax.plot(
                where[: len(values)], values, ".-", color=CURVES[name], markersize=5
            )
    if best is not None:
        style = {"color": "0.4", "linestyle": "--", "linewidth": 1, "zorder": 1.8}  # Over the grid.
        lines[BEST] = ax.axvline(where[best - 1], **style)
        if VALIDATION + metric in history:
            value = history[VALIDATION + metric][best - 1]
            ax.set_title(
                f"epoch {where[best - 1]:g}: {value:.4g}",
                loc="right",
                fontsize="small",
                color="0.4",
            )
    title = PANELS.get(metric) or metric.replace("_", " ")
    ax.set_title(title, loc="left", family=FONT, parse_math=False)
    if metric == "perplexity":  # Falls from thousands to a few.
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(
            LogFormatter()
        )  # It labels minor ticks where there is no major one.
    elif metric in FROM_ZERO:
        ax.update_datalim([(1, 0)])
        ax.autoscale_view()
    ax.grid(color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
    return lines


def plot_confusion(matrix, labels) -> Figure:
    """Draws a confusion matrix: right labels down, predicted ones across.

    Args:
        matrix: int array (C, C), numbers of texts; see `kformer.text.class_scores.ClassScores`.
        labels: The C labels.

    Returns:
        `Figure` of one axes. The darker a cell, the larger its share of the texts of its row.
    """
    matrix = np.asarray(matrix)
    shares = matrix / np.maximum(1, matrix.sum(axis=1, keepdims=True))
    size = float(np.clip(6 / len(labels), 0.4, 0.9)) * len(labels)  # Inches.
    margin = 1.2 + 0.08 * max(map(len, labels))
    figure = Figure(figsize=(size + margin, size + margin), layout="constrained")
    ax = figure.add_subplot()
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    _rule(ax, *matrix.shape)
    text = {"family": FONT, "parse_math": False}
    ax.set_xticks(
        range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor", **text
    )
    ax.set_yticks(range(len(labels)), labels, **text)
    ax.set_xlabel("predicted label")
    ax.set_ylabel("right label")
    for (row, column), count in np.ndenumerate(matrix):
        color = "white" if shares[row, column] > 0.5 else "0.2"
        ax.text(column, row, f"{count:,}", ha="center", va="center", color=color, fontsize=9)
    return figure


def check_picture(path) -> None:
    """Raises ValueError unless a picture can have this name."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"A picture's name must end in one of {SUFFIXES}. Received: path={path}.")


def save_figure(figure: Figure, path) -> None:
    """Writes `figure` as PNG, SVG or PDF, by the suffix of `path`, completely or not at all."""
    check_picture(path)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150, bbox_inches="tight", pad_inches=0.1)
