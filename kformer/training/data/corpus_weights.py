"""Weights of several corpora: how often a pass reads each of them."""

import math


def check_weights(
    corpora: int, weights: list[float] | None = None, temperature: float | None = None
):
    """Raises ValueError if `weights` or `temperature` cannot apply to `corpora` corpora."""
    if weights is not None and temperature is not None:
        raise ValueError(
            "Corpora are mixed by `weights` or by `temperature`, not by both. "
            f"Received: weights={weights}, temperature={temperature}."
        )
    if temperature is not None and not 0 < temperature < math.inf:
        raise ValueError(f"`temperature` must be over 0. Received: temperature={temperature}.")
    if weights is not None and (
        len(weights) != corpora or not all(1e-6 <= weight < math.inf for weight in weights)
    ):
        raise ValueError(
            "`weights` must have a positive number for each pair of files. "
            f"Received: weights={weights} for {corpora} pairs of files."
        )


def corpus_weights(
    pairs: list[int], weights: list[float] | None = None, temperature: float | None = None
) -> list[float]:
    """Returns how often a pass reads each corpus, rounded to six decimals.

    Args:
        pairs: Number of pairs of each corpus.
        weights, temperature: See `Mixture`.

    Raises:
        ValueError: The weights or the temperature are out of range.
    """
    check_weights(len(pairs), weights, temperature)
    if temperature is not None:
        drawn = [(number / max(pairs)) ** (1 / temperature) for number in pairs]
        scale = sum(pairs) / sum(drawn)
        weights = [scale * draw / number for draw, number in zip(drawn, pairs, strict=True)]
    elif weights is None:
        weights = [1.0] * len(pairs)
    return [round(weight, 6) for weight in weights]
