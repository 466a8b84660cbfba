"""Medians of the rounds of a benchmark, and ratios of rounds that ran one after another."""

from statistics import median
from typing import NamedTuple


class Ratio(NamedTuple):
    """How many times as fast one contender is as another."""

    median: float
    least: float
    most: float


def ratio(ours: list[dict], theirs: list[dict]) -> Ratio:
    """Compares round by round: two rounds of one number are neighbours in time."""
    ratios = [b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True)]
    return Ratio(median(ratios), min(ratios), max(ratios))


def best(measured: dict[str, list[dict]], prefix: str) -> str | None:
    """Returns the fastest contender, by median, whose name begins with `prefix`; None if none."""
    names = [name for name in measured if name.startswith(prefix)]
    return min(names, key=lambda name: seconds(measured[name]), default=None)


def ratio_line(measured: dict[str, list[dict]], ours: str, theirs: str) -> str:
    """Returns the ratio of two contenders as a line of a report."""
    times = ratio(measured[ours], measured[theirs])
    return (
        f"{ours} is {times.median:.2f} x {theirs}; by round {times.least:.2f} to {times.most:.2f}"
    )


def seconds(rounds: list[dict]) -> float:
    """Returns the median duration."""
    return median(report["seconds"] for report in rounds)


def gibibytes(rounds: list[dict]) -> str:
    """Returns the peak of memory after the last of the rounds, to be read; "?" if not known."""
    memory = rounds[-1]["peak_bytes"]
    return f"{memory / 2**30:.2f} GiB" if memory else "?"
