"""Of the product of a test's parameters, the cases in which each two values meet."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any


def covering(cases: Sequence[Mapping[str, Any]]) -> list[int]:
    """Returns the places of cases in which all pairs of values occur that occur in any case.

    Faults come from one value or from two together far more often than from three ([Kuhn et al.,
    2004](https://doi.org/10.1109/TSE.2004.24)). Always the first case with most of the missing
    pairs is taken next, so equal cases give equal places.

    Args:
        cases: The values of the parameters by name; the same object is the same value.
    """
    values = [sorted((name, id(value)) for name, value in case.items()) for case in cases]
    pairs = [set(itertools.combinations(each, min(2, len(each)))) for each in values]
    missing, chosen = set().union(*pairs), []
    while missing:
        best = max(range(len(cases)), key=lambda i: len(pairs[i] & missing))
        chosen.append(best)
        missing -= pairs[best]
    return sorted(chosen)
