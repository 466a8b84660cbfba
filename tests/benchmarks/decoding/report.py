"""What the rounds say: speeds, time to load, memory and ratios, as a table."""

from statistics import median

from benchmarks.decoding.contenders import FORMS, PRECISIONS, RIVAL, prefix
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
    lines = [
        f"{'':34}{'tokens/s':>9}{'slowest':>9}{'fastest':>9}{'ms/sentence':>13}{'load':>9}"
        f"{'memory':>10}"
    ]
    for name, rounds in measured.items():
        times = [report["seconds"] for report in rounds]
        lines.append(
            f"{name:34}{tokens[name] / median(times):9,.0f}{tokens[name] / max(times):9,.0f}"
            f"{tokens[name] / min(times):9,.0f}{1000 * median(times) / sentences:13,.2f}"
            f"{loads[name]:7,.2f} s{gibibytes(rounds):>10}"
        )
    return lines


def ratios(measured: dict[str, list[dict]]) -> list[str]:
    """Returns a line for each form and precision; of all, the best number of threads counts."""
    lines = []
    for precision in PRECISIONS:
        theirs = best(measured, prefix(RIVAL, precision))
        for form in FORMS:
            ours = best(measured, prefix(form, precision))
            if form == RIVAL or not ours or not theirs:
                continue
            lines.append(ratio_line(measured, ours, theirs))
    return lines
