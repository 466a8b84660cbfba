"""How sure a score is: bootstrap intervals, and a paired test of two systems, by sacreBLEU.

[Koehn, 2004](https://aclanthology.org/W04-3250): the lines are drawn again and again, with
replacement, and each such text is scored.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics.base import Metric
from sacrebleu.significance import PairedTest

_RESAMPLES = 1000


class Estimate(NamedTuple):
    """The score of one system.

    Attributes:
        value: The score, 0 to 100.
        interval: Half the width of the interval that has 95 % of the scores of resampled texts.
        p_value: How likely chance alone makes such a difference to the first system; 1 if the two
            translate alike, None for the first one.
    """

    value: float
    interval: float
    p_value: float | None


def bootstrap(
    metric: Metric, systems: Sequence[Sequence[str]], references: Sequence[str]
) -> tuple[list[Estimate], str]:
    """Scores systems, each with an interval, and compares each with the first one.

    Args:
        metric: One of `kformer.text.scores`, such as `bleu_metric()`.
        systems: The translations by each system, as many as references.
        references: list of strings.

    Returns:
        estimates: `Estimate` of each system. The first p-value is None.
        signature: How they were measured, the seed included.
    """
    named = [(str(number), list(one)) for number, one in enumerate(systems)]
    test = PairedTest(named, {"": metric}, [list(references)], "bs", _RESAMPLES)
    signatures, scores = test()
    [(name, signature)] = signatures.items()
    estimates = []
    for (_, lines), found in zip(named, scores[name], strict=True):
        p_value = found.p_value
        if p_value is not None and lines == named[0][1]:
            p_value = 1.0  # sacreBLEU has the least one, by which it points at equal systems.
        estimates.append(Estimate(found.score, float(found.ci), p_value))
    return estimates, str(signature)
