"""The results of the rounds: words a second, the first answer and bytes, as a table."""

from statistics import median

from benchmarks.medians import ratio_line
from benchmarks.page.contenders import PAGE, RIVAL, WITH_SHORTLIST, Sentences

WAYS = {"alone": "one at a time", "together": "at once"}


def words_of(sentences: list[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)


def table(measured: dict[str, list[dict]], sentences: Sentences) -> list[str]:
    """Returns the lines of a report; words are those of the sources.

    Args:
        measured: From `round_robin`, by the names of the contenders.
        sentences: Of each round.
    """
    words = {way: words_of(getattr(sentences, way)) for way in WAYS}
    titles = [f"{'words/s, ' + WAYS[way]:>24}{'slowest':>9}{'fastest':>9}" for way in WAYS]
    lines = [f"{'':20}{''.join(titles)}{'first answer':>14}{'loaded':>10}"]
    for name, rounds in measured.items():
        line = f"{name:20}"
        for way in WAYS:
            times = [report[way] for report in rounds]
            speeds = [words[way] / one for one in (median(times), max(times), min(times))]
            line += f"{speeds[0]:24,.0f}{speeds[1]:9,.0f}{speeds[2]:9,.0f}"
        first = median(report["first"] for report in rounds)
        lines.append(f"{line}{first:12,.2f} s{rounds[-1]['bytes'] / 1e6:7,.1f} MB")
    return lines


def ratios(measured: dict[str, list[dict]]) -> list[str]:
    """Returns a line for each way to translate, with a shortlist and without."""
    lines = []
    for end in ("", WITH_SHORTLIST):
        ours, theirs = PAGE + end, RIVAL + end
        if ours not in measured or theirs not in measured:
            continue
        for way, title in (WAYS | {"first": "first answer"}).items():
            times = {
                name: [{"seconds": report[way]} for report in measured[name]]
                for name in (ours, theirs)
            }
            lines.append(f"{title}: {ratio_line(times, ours, theirs)}")
    return lines
