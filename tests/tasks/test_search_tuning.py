"""The choice of a length penalty: flat optima, several texts, and the default if it is as good."""

import numpy as np
import pytest

import kformer
from kformer.tasks.search_tuning import tune_search

PENALTIES = (0.0, 0.6, 1.0, 1.5, 2.0)


class Scripted:
    """A translator whose translations are the score of the penalty, by a table of each text."""

    def __init__(self, tables):
        self.tables = tables

    def translate(self, sources, beam_size, length_penalty, progress, split):
        assert beam_size == 3 and not split
        return [self.tables[sources[0]][length_penalty]]


def chosen(*tables):
    named = {
        f"text {i}": dict(zip(PENALTIES, table, strict=True)) for i, table in enumerate(tables)
    }
    texts = [([name], ["a reference"]) for name in named]
    return tune_search(Scripted(named), texts, lambda lines, _: lines[0], 3, PENALTIES)


def test_the_middle_of_a_flat_optimum_is_better_than_a_peak():
    assert chosen([30, 30, 34, 34, 34]).length_penalty == 1.5
    assert chosen([36, 31, 34, 35, 34]).length_penalty == 1.5


def test_a_penalty_must_be_good_for_all_texts():
    tuned = chosen([30, 30, 30, 31, 32], [30, 30, 30, 28, 26])
    assert tuned.length_penalty == 0.6
    np.testing.assert_array_equal(tuned.scores.mean(axis=1), [30, 30, 30, 29.5, 29])


def test_the_default_stays_where_others_gain_next_to_nothing():
    assert chosen([30.0, 30.0, 30.02, 30.05, 30.05]).length_penalty == 0.6
    assert chosen([30.0, 30.0, 31.0, 31.5, 31.5]).length_penalty != 0.6


@pytest.mark.prove
def test_the_command_writes_a_model_that_searches_by_the_chosen_penalty(
    command, toy_keras, toy_run, tmp_path
):
    files = "--source", toy_run.files["valid.de"], "--reference", toy_run.files["valid.en"]
    output = tmp_path / "tuned.keras"
    result = command("tune", toy_keras, *files, *files, "--beam-size", "2", "--output", output)
    assert (result.returncode, result.stderr) == (0, "")
    *_, row, options, written = result.stdout.splitlines()
    assert row.split()[0] == "2" and written.endswith(str(output))
    defaults = kformer.load(output).search_defaults
    assert options == f"Chosen: --beam-size 2 --length-penalty {defaults['length_penalty']:g}"
    assert defaults["beam_size"] == 2


def test_greedy_search_cannot_be_tuned(command, toy_keras, toy_run):
    files = "--source", toy_run.files["valid.de"], "--reference", toy_run.files["valid.en"]
    result = command("tune", toy_keras, *files, "--beam-size", "1")
    assert result.returncode == 2 and "beam_size=1" in result.stderr
