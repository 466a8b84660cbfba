"""The sinusoidal positions that pretrained models have, as settings of a `Transformer`."""

import numpy as np

from kformer.model.embedding import MAX_WAVELENGTH, PositionalEncoding

_ROWS = 512  # Of a table that is compared.
_ROUNDING = 2e-3  # Of positions of 16 bits.


def paper_positions() -> dict:
    """Returns the settings of the positions of the paper, which OpenNMT-py has.

    Ports of Marian have them, too: those of transformers and CTranslate2.
    """
    return {"first_position": 0, "max_wavelength": MAX_WAVELENGTH}


def tensor2tensor_positions(d_model: int, first: int) -> dict:
    """Returns the settings of positions whose slowest wave has the frequency 1 / 10,000 exactly.

    [tensor2tensor](https://github.com/tensorflow/tensor2tensor) had them first. Marian counts
    them from 0, OpenNMT-tf from 1, fairseq from 2.

    Raises:
        ValueError: `d_model` is too small for two waves.
    """
    if d_model < 4:
        raise ValueError(f"The width must be at least 4. Received: d_model={d_model}.")
    return {
        "first_position": first,
        "max_wavelength": MAX_WAVELENGTH ** (d_model / (d_model - 2)),
    }


def positions_in_table(table, d_model: int) -> tuple[dict, bool] | None:
    """Returns the settings that give a table of positions, float (T, D), and its order.

    Returns:
        The settings; and whether all sines come before all cosines. None if no known ones fit.
    """
    table = table[:_ROWS]
    kinds = [paper_positions()]
    if d_model > 2:
        kinds += [tensor2tensor_positions(d_model, first) for first in (0, 1, 2)]
    for settings in kinds:
        known = np.array(PositionalEncoding(**settings).encodings(len(table), d_model))
        halves = np.concatenate([known[:, ::2], known[:, 1::2]], axis=1)
        for sines_first, one in ((False, known), (True, halves)):
            if np.abs(table - one).max() < _ROUNDING:
                return settings, sines_first
    return None
