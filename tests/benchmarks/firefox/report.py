"""The table of a race, and the ratios of contenders round by round."""

from statistics import median, quantiles

from sacrebleu.metrics import BLEU, CHRF

from benchmarks.firefox.contenders import BATCH, FX, PAGE, RIVAL_PAGE, SLIMT, TFLITE

MEGABYTE = 1e6
RATIOS = (  # Of processor time where it is known.
    ("one sentence, processor time", "one_cpu", TFLITE, FX),
    ("bulk, processor time", "bulk_cpu", TFLITE, SLIMT),
    ("bulk, processor time", "bulk_cpu", BATCH, SLIMT),
    ("start to the first answer", "start", TFLITE, FX),
    ("first answer in Chromium", "start", PAGE, RIVAL_PAGE),
)


def table(measured: dict[str, list[dict]], references: list[str], files: dict[str, int]):
    """Returns the lines of a table in Markdown, one for each contender.

    Args:
        measured: From `round_robin`.
        references: Of the sentences in bulk, which are the last of the texts of a report.
        files: Name -> bytes of the model.
    """
    lines = [
        "| | BLEU | chrF | one: p50 ms | p95 | processor ms | bulk: ms each | processor ms | "
        "start s | load s | MB one | MB bulk | file MB |",
        f"|---{'|---' * 12}|",
    ]
    for name, rounds in measured.items():
        texts = rounds[0]["texts"][-len(references) :]
        cells = [f"{metric.corpus_score(texts, [references]).score:.2f}" for metric in METRICS]
        cells += [f"{1000 * of(rounds, quantile):.1f}" for quantile in (half, most)]
        cells += [milliseconds(rounds, "one_cpu", len(rounds[0]["one"]))]
        cells += [milliseconds(rounds, key, len(references)) for key in ("bulk", "bulk_cpu")]
        cells += [f"{of(rounds, lambda report, key=key: report[key]):.2f}" for key in TIMES]
        cells += [megabytes(rounds, key) for key in ("one_bytes", "bulk_bytes")]
        cells += [f"{files[name] / MEGABYTE:.1f}" if name in files else "-"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


METRICS = (BLEU(), CHRF())
TIMES = ("start", "load")


def of(rounds, number) -> float:
    """Returns the median of a number over the rounds."""
    return median(map(number, rounds))


def half(report) -> float:
    return median(report["one"])


def most(report) -> float:
    return quantiles(report["one"], n=20)[-1]


def milliseconds(rounds, key, count) -> str:
    if key not in rounds[0]:
        return "-"
    return f"{1000 * of(rounds, lambda report: report[key]) / count:.1f}"


def megabytes(rounds, key) -> str:
    if rounds[0].get(key) is None:
        return "-"
    return f"{of(rounds, lambda report: report[key]) / MEGABYTE:.0f}"


def ratios(measured: dict[str, list[dict]]) -> list[str]:
    """Returns a line for each of `RATIOS`, of two rounds that ran one after the other."""
    lines = []
    for title, key, ours, theirs in RATIOS:
        if ours not in measured or theirs not in measured:
            continue
        pairs = zip(measured[ours], measured[theirs], strict=True)
        shares = [mine[key] / other[key] for mine, other in pairs]
        lines.append(
            f"{title}: {ours} takes {median(shares):.2f} of {theirs}'s; "
            f"by round {min(shares):.2f} to {max(shares):.2f}"
        )
    return lines
