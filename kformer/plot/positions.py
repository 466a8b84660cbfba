"""Positional encodings.

Axes: T positions, D d_model.
"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator


def plot_positions(encodings) -> Figure:
    """Draws positional encodings, and how alike those of two positions are.

    The dot product of two encodings depends on their distance alone: it is the sum of the cosines
    of the distance times each frequency. It is largest for a position with itself, D / 2, and falls
    off in waves, so that attention can look for a neighbour.

    Args:
        encodings: float array (T, D), as `kformer.PositionalEncoding().encodings(T, D)` returns it.

    Returns:
        `Figure` of three axes: a heat map, its colour bar, and the dot products.
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
