"""Intervals and paired tests are sacreBLEU's."""

import re
import subprocess
import sys

import pytest

from kformer.text.scores import bleu_metric, bootstrap, chrf_metric, moses_metric, score_with
from support import toy

REFERENCES = toy.TARGETS[:30]
FIRST = [line.replace("the", "a", 1) if i % 3 else line for i, line in enumerate(REFERENCES)]
SECOND = [line.replace("a ", "the ", 1) if i % 4 else line for i, line in enumerate(REFERENCES)]
METRICS = {"BLEU": bleu_metric, "chrF2": chrf_metric}


def test_estimates_are_those_of_the_command_of_sacrebleu(written):
    files = {
        name: written(name, "".join(f"{line}\n" for line in lines))
        for name, lines in (("reference", REFERENCES), ("first", FIRST), ("second", SECOND))
    }
    options = ("-m", "bleu", "chrf", "--paired-bs", "-f", "latex", "-w", "6", "-q")
    systems = files["first"], files["second"]
    table = subprocess.run(
        [sys.executable, "-m", "sacrebleu", files["reference"], "-i", *systems, *options],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    numbers = [float(number) for number in re.findall(r"\d+\.\d{4,6}\b", table)]
    of_both = [bootstrap(metric(), [FIRST, SECOND], REFERENCES)[0] for metric in METRICS.values()]
    for estimates in of_both:
        first, second = estimates
        for expected in (first.value, first.interval, second.value, second.interval):
            assert any(number == pytest.approx(expected, abs=1e-6) for number in numbers)
        assert any(number == pytest.approx(second.p_value, abs=1e-4) for number in numbers)


@pytest.mark.parametrize("metric", [bleu_metric, chrf_metric, lambda: moses_metric("en")])
def test_the_value_is_the_score_and_the_interval_is_that_of_sacrebleu(metric):
    [only], signature = bootstrap(metric(), [FIRST], REFERENCES)
    score = metric().corpus_score(FIRST, [REFERENCES], n_bootstrap=1000)
    assert only.value == score_with(metric(), FIRST, REFERENCES).value
    shown = re.search(r"± ([\d.]+)", score.format(width=4))[1]
    assert only.interval == pytest.approx(float(shown), abs=1e-4)
    assert only.p_value is None and "|bs:1000|seed:12345|" in signature


def test_a_system_that_translates_alike_is_no_different():
    estimates, _ = bootstrap(chrf_metric(), [FIRST, SECOND, [*FIRST]], REFERENCES)
    assert estimates[2] == estimates[0]._replace(p_value=1.0)
    assert 0 < estimates[1].p_value < 1


def test_a_difference_of_one_line_may_be_chance_and_one_of_all_lines_is_not():
    one = [*FIRST[:-1], "x"]
    estimates, _ = bootstrap(chrf_metric(), [FIRST, one, ["x"] * len(FIRST)], REFERENCES)
    assert estimates[1].p_value > 0.1
    assert estimates[2].p_value < 0.01
