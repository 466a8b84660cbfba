"""Learning rate schedules."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from kformer.arguments import check_integer
from kformer.plot.figures import FONT

_POINTS = 500
_STYLES = "-", "--", "-.", ":"


def plot_schedules(schedules: dict[str, Callable], steps: int) -> Figure:
    """Draws the learning rates of one or more schedules, to compare them.

    Equal ones share a curve, and its name in the legend.

    Args:
        schedules: By name, functions from a step to its learning rate, such as
            `kformer.training.WarmupSchedule`.
        steps: The last step that is drawn.

    Returns:
        `Figure` of one axes.
    """
    check_integer("steps", steps, least=1)
    if not schedules:
        raise ValueError("There must be a schedule to draw. Received: schedules={}.")
    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.subplots()
    places = np.unique(np.linspace(0, steps, _POINTS).round().astype(int))
    curves = {}  # Names by the rates.
    for name, schedule in schedules.items():
        rates = tuple(float(schedule(int(step))) for step in places)
        curves.setdefault(rates, []).append(name)
    for number, (rates, names) in enumerate(curves.items()):
        # Curves may share a part, too: where they do, the gaps show those below.
        style = _STYLES[number % len(_STYLES)]
        axes.plot(places, rates, style, label=", ".join(names))
    axes.set(xlabel="step (updates of the weights)", ylabel="learning rate")
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(prop={"family": FONT}, frameon=False)
    return figure
