"""What the runs say: seconds, sentences a second, memory and ratios."""

from benchmarks.decoding.contenders import PRECISIONS, RIVAL
from benchmarks.medians import best, gibibytes, ratio_line, seconds


def table(measured: dict[str, list[dict]], sentences: int) -> list[str]:
    """Returns the lines of a report, of what `round_robin` returned."""
    lines = [f"{'':34}{'seconds':>9}{'slowest':>9}{'fastest':>9}{'sentences/s':>13}{'memory':>10}"]
    for name, rounds in measured.items():
        times = [report["seconds"] for report in rounds]
        middle = seconds(rounds)
        lines.append(
            f"{name:34}{middle:9.2f}{max(times):9.2f}{min(times):9.2f}{sentences / middle:13,.0f}"
            f"{gibibytes(rounds):>10}"
        )
    return lines


def ratios(measured: dict[str, list[dict]]) -> list[str]:
    """Returns a line for each of our commands, against the best of the rival's."""
    lines = []
    for precision in PRECISIONS:
        theirs = best(measured, f"{precision} {RIVAL}")
        for ours in measured:
            if theirs and ours.startswith(precision) and RIVAL not in ours:
                lines.append(ratio_line(measured, ours, theirs))
    return lines
