"""Learning curves."""

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, MaxNLocator

from kformer.arguments import check_integer
from kformer.plot.figures import FONT

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
# Metrics whose axes begin at 0, so that small changes do not look large.
FROM_ZERO = ("learning_rate", "tokens/s", "texts/s")
_NOTE = (
    "Dropout is on in training and off in validation, so validation can be better. "
    "Label smoothing, where it is used, keeps the loss well above 0."
)


def plot_history(history: dict[str, list[float]], best: int | None = None) -> Figure:
    """Draws learning curves: a panel for each metric, training and validation in it.

    Args:
        history: The metrics of every epoch, as in the `history` that `fit` returns: "loss",
            "val_loss" and so on. A NaN leaves a gap. "epoch", if present, has the place of each
            value on the horizontal axis, such as 1.25 for a validation within the second epoch.
        best: The epoch to mark, from 1: the epoch of the best weights. With "epoch" in the history,
            it is the index in each list, from 1.

    Returns:
        `Figure` whose axes are the panels: loss, scores, other metrics, speed.

    Examples:
        >>> import kformer
        >>> history = {"loss": [3.0, 2.0, 1.5], "val_loss": [2.5, 2.0, 2.1]}
        >>> figure = kformer.plot_history(history, best=2)
        >>> figure.savefig("history.png")
        >>> len(figure.axes)  # One panel.
        1
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
    lines: dict[str, Artist] = {}
    for i, metric in enumerate(order):
        ax = figure.add_subplot(rows, columns, i + 1)
        lines |= _plot_metric(ax, history, metric, where, best)
        ax.set_xlabel("epoch")
        ax.set_xlim(min(where[0] - 0.5, 0.5), where[-1] + 0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    names = [name for name in (*CURVES, BEST) if name in lines]
    labels = [*names]
    if best is not None:
        labels[-1] += f": {where[best - 1]:g}"
    figure.legend(
        [lines[name] for name in names],
        labels,
        loc="outside upper left",
        ncols=len(names),
        frameon=False,
    )
    if {"loss", f"{VALIDATION}loss"} <= {*history}:
        note = _NOTE if columns > 1 else _NOTE.replace(". ", ".\n").replace(", so", ",\nso")
        figure.supxlabel(note, fontsize="small", color="0.4")
    return figure


def _plot_metric(ax, history, metric, where, best):
    """Draws the curves of one metric; returns its lines by the names in the legend."""
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
                f"epoch {where[best - 1]:g}: {value:,.4g}",
                loc="right",
                fontsize="small",
                color="0.4",
            )
    title = PANELS.get(metric) or metric.replace("_", " ")
    ax.set_title(title, loc="left", family=FONT, parse_math=False)
    if metric == "perplexity":  # Falls from thousands to a few.
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:,g}")
        ax.yaxis.set_minor_formatter(
            LogFormatter()
        )  # It labels minor ticks where there is no major one.
    elif metric in FROM_ZERO:
        ax.update_datalim([(1, 0)])
        ax.autoscale_view()
        if metric.endswith("/s"):
            ax.yaxis.set_major_formatter("{x:,g}")
    ax.grid(color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
    return lines
