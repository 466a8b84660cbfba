"""Learning rate schedules."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from kformer.arguments import check_integer
from kformer.plot.figures import FONT

_POINTS = 500


def plot_schedules(schedules: dict[str, Callable], steps: int) -> Figure:
    """Draws the learning rates of one or more schedules, to compare them.

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
    for name, schedule in schedules.items():
        rates = [float(schedule(int(step))) for step in places]
        axes.plot(places, rates, label=name)
    axes.set(xlabel="step (updates of the weights)", ylabel="learning rate")
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(prop={"family": FONT}, frameon=False)
    return figure
