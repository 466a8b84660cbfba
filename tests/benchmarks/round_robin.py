"""Rounds in turn: all contenders meet the same hours of the machine."""

from benchmarks.contender import ContenderFailed


def round_robin(contenders: dict, rounds: int, check, show=print) -> dict[str, list[dict]]:
    """Lets every contender do two rounds of work, again and again, one at a time.

    Of the two the second counts: a process that has waited half a minute may find its memory and
    its caches with others, and some machines take ten times as long for the first round then.

    Args:
        contenders: name -> object with a method `round()`, which returns what was measured: at
            least `seconds`.
        rounds: That count, after one to warm up: traces, compilations, first allocations.
        check: Is called with a name and what its warm-up returned; raises ContenderFailed.
        show: Is called with a line about each round.

    Returns:
        name -> what was measured in each round; without the contenders that failed.
    """
    measured = {name: [] for name in contenders}
    for number in range(rounds + 1):
        title = f"round {number}" if number else "warm-up"
        for name in list(measured):
            try:
                report = contenders[name].round()
                if number:
                    report = contenders[name].round()  # Now that it is awake.
                else:
                    check(name, report)
            except ContenderFailed as failed:
                del measured[name]
                show(f"{title}: {name} FAILED: {failed}")
                continue
            show(f"{title}: {name} {report['seconds']:.2f} s")
            if number:
                measured[name].append(report)
    return measured
