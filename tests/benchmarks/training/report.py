"""The results of the rounds: speeds, shares of the peak, ratios, as a table."""

from statistics import median

from benchmarks.medians import best, gibibytes, ratio, seconds
from benchmarks.training.contenders import PEAK

# What the names of their contenders begin with.
RIVALS = {"PyTorch": "torch", "KerasHub": "kerashub", "Marian": "marian"}


def table(measured: dict[str, list[dict]], tokens: int, flops: int) -> list[str]:
    """Returns the lines of a report.

    Args:
        measured: From `round_robin`, of contenders and perhaps of the peak.
        tokens: Target tokens in a round.
        flops: Of a round; see `step_flops`.
    """
    peak = None
    if PEAK in measured:
        peak = median(report["flops"] / report["seconds"] for report in measured[PEAK])
    lines = [
        f"{'':24}{'target tokens/s':>16}{'slowest':>9}{'fastest':>9}{'of peak':>9}{'memory':>10}"
    ]
    for name, rounds in measured.items():
        if name == PEAK:
            continue
        times = [report["seconds"] for report in rounds]
        share = f"{flops / seconds(rounds) / peak:.0%}" if peak else "?"
        lines.append(
            f"{name:24}{tokens / median(times):16,.0f}{tokens / max(times):9,.0f}"
            f"{tokens / min(times):9,.0f}{share:>9}"
            f"{gibibytes(rounds):>10}"
        )
    if peak:
        lines.append(f"The peak, TensorFlow's matmul: {peak / 1e9:,.0f} GFLOP/s.")
    return lines + ratios(measured)


def ratios(measured: dict[str, list[dict]]) -> list[str]:
    """Returns a line for each rival."""
    lines = []
    for rival, prefix in RIVALS.items():
        name = best(measured, prefix)
        if name and "kformer" in measured:
            times = ratio(measured["kformer"], measured[name])
            lines.append(
                f"kformer is {times.median:.2f} x {rival}'s best ({name}); "
                f"by round {times.least:.2f} to {times.most:.2f}"
            )
    return lines
