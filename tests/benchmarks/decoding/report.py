"""The results of the rounds: speeds, time to load, memory and ratios, as a table."""

from collections.abc import Sequence
from statistics import median

from benchmarks.decoding.contenders import FORMS, PRECISIONS, RIVALS, prefix
from benchmarks.medians import best, gibibytes, ratio_line


def table(
    measured: dict[str, list[dict]], loads: dict[str, float], tokens: dict[str, int], sentences: int
) -> list[str]:
    """Returns the lines of a report.

    Args:
        measured: From `round_robin`, by the names of the entries, as the next two.
        loads: Seconds that each took to load.
        tokens: That each wrote in a round.
        sentences: In a round.
    """
    width = max([34, *(len(name) + 1 for name in measured)])
    lines = [
        f"{'':{width}}{'tokens/s':>9}{'slowest':>9}{'fastest':>9}{'ms/sentence':>13}{'load':>9}"
        f"{'memory':>10}"
    ]
    for name, rounds in measured.items():
        times = [report["seconds"] for report in rounds]
        lines.append(
            f"{name:{width}}{tokens[name] / median(times):9,.0f}{tokens[name] / max(times):9,.0f}"
            f"{tokens[name] / min(times):9,.0f}{1000 * median(times) / sentences:13,.2f}"
            f"{loads[name]:7,.2f} s{gibibytes(rounds):>10}"
        )
    return lines


def ratios(measured: dict[str, list[dict]], models: Sequence[str] = ("",)) -> list[str]:
    """Returns a line for each form, precision and rival; the best number of threads counts.

    Args:
        measured: As for `table`.
        models: Of the entries, as `Entry.of` has them. The forms of the first model are compared
            with the rivals and with themselves in every other model, too.
    """
    first, *others = models
    lines = []
    for precision in PRECISIONS:
        for form in FORMS:
            ours = best(measured, prefix(form, precision, first))
            if form in RIVALS or not ours:
                continue
            opponents = [prefix(rival, precision, of) for of in models for rival in RIVALS]
            opponents += [prefix(form, precision, of) for of in others]
            found = [best(measured, opponent) for opponent in opponents]
            lines += [ratio_line(measured, ours, theirs) for theirs in found if theirs]
    return lines
