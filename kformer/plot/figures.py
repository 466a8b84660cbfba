"""What all pictures share: a font, lines between cells, and how they are saved.

They need matplotlib and no window: every function that draws returns a new `Figure`.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kformer.files import replacing

FONT = "DejaVu Sans"  # Part of matplotlib; has umlauts and SentencePiece's "▁".
SUFFIXES = (".pdf", ".png", ".svg")


def check_picture(path) -> None:
    """Raises ValueError unless a picture can have this name."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"A picture's name must end in one of {SUFFIXES}. Received: path={path}.")


def save_figure(figure: Figure, path) -> None:
    """Writes `figure` as PNG, SVG or PDF, by the suffix of `path`, completely or not at all."""
    check_picture(path)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150, bbox_inches="tight", pad_inches=0.1)


def rule(ax, rows, columns):
    """Draws fine lines between the cells, and no tick marks."""
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="0.88", linewidth=0.5)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_color("0.7")
