"""Pictures of learning rate schedules, of positional encodings and of confusion matrices.

Axes: T positions, D d_model, C classes.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kformer.arguments import check_integer
from kformer.plot.figures import FONT, fonts_for, ink_on, rule

_POINTS = 500
_STYLES = "-", "--", "-.", ":"
_LABEL_WIDTH = 18  # Characters in a line of a label.
_LEAST_FOR_SHARES = 0.6  # Inches of a cell that has room for two lines.


def plot_schedules(schedules: Mapping[str, Callable], steps: int) -> Figure:
    """Draws the learning rates of one or more schedules, to compare them.

    Equal ones share a curve, and its name in the legend.

    Args:
        schedules: By name, functions from a step to its learning rate, such as
            `kformer.training.WarmupSchedule`.
        steps: The last step that is drawn.

    Returns:
        `Figure` of one axes.

    Examples:
        >>> import kformer
        >>> from kformer.training import WarmupSchedule
        >>> schedules = {"paper": WarmupSchedule(512), "tiny": WarmupSchedule(128, 2000)}
        >>> figure = kformer.plot_schedules(schedules, steps=9000)
        >>> figure.savefig("schedules.png")
        >>> figure.axes[0].get_xlabel()
        'step (updates of the weights)'
    """
    check_integer("steps", steps, least=1)
    if not schedules:
        raise ValueError("There must be a schedule to draw. Received: schedules={}.")
    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.subplots()
    places = np.unique(np.linspace(0, steps, _POINTS).round().astype(int))
    curves: dict[tuple, list[str]] = {}  # Names by the rates.
    for name, schedule in schedules.items():
        rates = tuple(float(schedule(int(step))) for step in places)
        curves.setdefault(rates, []).append(name)
    for number, (rates, names) in enumerate(curves.items()):
        # Curves may also share a part: there, the gaps show the curves below.
        style = _STYLES[number % len(_STYLES)]
        axes.plot(places, rates, style, label=", ".join(names))
    axes.set(xlabel="step (updates of the weights)", ylabel="learning rate")
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(prop={"family": FONT}, frameon=False)
    return figure


def plot_positions(encodings: np.ndarray) -> Figure:
    """Draws positional encodings, and how alike the encodings of two positions are.

    The dot product of two encodings depends on their distance alone: it is the sum of the cosines
    of the distance times each frequency. It is largest for a position with itself, D / 2, and falls
    off in waves, so that attention can look for a neighbour.

    Args:
        encodings: float array (T, D), as `kformer.PositionalEncoding().encodings(T, D)` returns it.

    Returns:
        `Figure` of three axes: a heat map, its colour bar, and the dot products.

    Examples:
        >>> import numpy as np
        >>> import kformer
        >>> encodings = np.array(kformer.PositionalEncoding().encodings(100, 128))
        >>> figure = kformer.plot_positions(encodings)
        >>> figure.savefig("positions.png")
        >>> figure.axes[0].get_ylabel()
        'position (ids from the start)'
    """
    encodings = np.asarray(encodings, np.float64)
    if encodings.ndim != 2 or not encodings.size:
        raise ValueError(
            "`encodings` must be (T, D), with at least one position. "
            f"Received: encodings.shape={encodings.shape}."
        )
    figure = Figure(figsize=(11, 4), layout="constrained")
    map_axes, product_axes = figure.subplots(1, 2)
    image = map_axes.imshow(
        encodings, cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
    )
    map_axes.set(xlabel="dimension of the encoding", ylabel="position (ids from the start)")
    map_axes.set_title("positional encodings", loc="left")
    figure.colorbar(image, ax=map_axes, label="value (sine or cosine)")
    products = encodings @ encodings[0]
    product_axes.plot(np.arange(len(products)), products, color="#1f5fa8")
    product_axes.axhline(0, color="0.7", linewidth=1)
    product_axes.set(xlabel="distance of two positions (ids)", ylabel="dot product of encodings")
    product_axes.set_title("how alike two positions are", loc="left")
    product_axes.grid(color="0.9")
    product_axes.spines[["top", "right"]].set_visible(False)
    for axis in (map_axes.xaxis, map_axes.yaxis, product_axes.xaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    return figure


def plot_confusion(matrix: np.ndarray, labels: Sequence[str]) -> Figure:
    """Draws a confusion matrix: true labels down, predicted ones across.

    Args:
        matrix: int array (C, C), numbers of texts, from `kformer.text.labels.ClassScores`.
        labels: The C labels.

    Returns:
        `Figure` of one axes, with the accuracy in its title. The darker a cell, the larger its
        share of the texts of its row, which cells of up to ten labels show below the number.
    """
    matrix = np.asarray(matrix)
    shares = matrix / np.maximum(1, matrix.sum(axis=1, keepdims=True))
    cell = float(np.clip(6 / len(labels), 0.4, 0.9))  # Inches.
    names = [textwrap.fill(label, _LABEL_WIDTH) for label in labels]
    longest = max(len(line) for name in names for line in name.splitlines())
    size = cell * len(labels) + 1.2 + 0.08 * longest
    figure = Figure(figsize=(size, size), layout="constrained")
    ax = figure.add_subplot()
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    rule(ax, *matrix.shape)
    text: dict[str, Any] = {"family": fonts_for(labels), "parse_math": False}
    ax.set_xticks(
        range(len(labels)), names, rotation=45, ha="right", rotation_mode="anchor", **text
    )
    ax.set_yticks(range(len(labels)), names, **text)
    ax.set_xlabel("predicted label")
    ax.set_ylabel("true label")
    total = int(matrix.sum())
    accuracy = f"{100 * matrix.trace() / max(1, total):.1f} % of {total:,} texts are right"
    ax.set_title(accuracy, fontsize="medium")
    for (row, column), count in np.ndenumerate(matrix):
        share = f"\n{100 * shares[row, column]:.0f} %" if cell >= _LEAST_FOR_SHARES else ""
        color = ink_on(ax.images[0].to_rgba(shares[row, column]))
        ax.text(column, row, f"{count:,}{share}", ha="center", va="center", color=color, fontsize=9)
    return figure
