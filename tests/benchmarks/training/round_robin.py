"""Rounds in turn: all contenders meet the same hours of the machine."""

import math

from benchmarks.training.contenders import ContenderFailed
from benchmarks.training.sizes import VOCAB_SIZE


def round_robin(contenders: dict, rounds: int, show=print) -> dict[str, list[dict]]:
    """Lets every contender train a round, again and again, one at a time.

    Args:
        contenders: name -> object with a method `round()`, which returns what was measured: at
            least `seconds`, and `loss` of the first step if it is a model.
        rounds: Rounds that count, after one to warm up: traces, compilations, first allocations.
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
                if not number:
                    _check_first_loss(report)
            except ContenderFailed as failed:
                del measured[name]
                show(f"{title}: {name} FAILED: {failed}")
                continue
            show(f"{title}: {name} {report['seconds']:.2f} s")
            if number:
                measured[name].append(report)
    return measured


def _check_first_loss(report):
    """A new model's guess is about as good as any: it is about log V surprised."""
    if "loss" in report and not abs(report["loss"] - math.log(VOCAB_SIZE)) < 1:
        raise ContenderFailed(
            f"the first loss is {report['loss']:.3f}, not near {math.log(VOCAB_SIZE):.3f}"
        )
