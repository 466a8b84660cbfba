"""Confusion matrices."""

import numpy as np
from matplotlib.figure import Figure

from kformer.plot.figures import fonts_for, ink_on, rule


def plot_confusion(matrix, labels) -> Figure:
    """Draws a confusion matrix: true labels down, predicted ones across.

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
    rule(ax, *matrix.shape)
    text = {"family": fonts_for(labels), "parse_math": False}
    ax.set_xticks(
        range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor", **text
    )
    ax.set_yticks(range(len(labels)), labels, **text)
    ax.set_xlabel("predicted label")
    ax.set_ylabel("true label")
    for (row, column), count in np.ndenumerate(matrix):
        color = ink_on(ax.images[0].to_rgba(shares[row, column]))
        ax.text(column, row, f"{count:,}", ha="center", va="center", color=color, fontsize=9)
    return figure
