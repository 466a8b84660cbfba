"""A run that is killed and started again ends as an undisturbed one does, to the bit."""

import dataclasses
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kformer

SCRIPT = Path(__file__).with_name("train_and_dump.py")


class Run:
    """A run in `folder`/run, and the process that is at work on it."""

    def __init__(self, folder, recipe, files):
        self.output = folder / "run"
        names = {"source": "train.de", "target": "train.en"}
        names |= {"valid_source": "valid.de", "valid_target": "valid.en"}
        options = {argument: str(files[name]) for argument, name in names.items()}
        self.options = json.dumps({"recipe": dataclasses.asdict(recipe), **options})
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, SCRIPT, self.output, self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def finish(self):
        self.start()
        _, errors = self.process.communicate()
        assert self.process.returncode == 0, errors.decode()

    def kill_when(self, moment):
        """Starts, and kills as soon as `moment()` is true; returns whether that was in time."""
        self.start()
        while not moment():
            if self.process.poll() is not None:
                assert self.process.returncode == 0, self.process.stderr.read().decode()
                return False
        self.process.kill()
        self.process.communicate()
        return True

    def checkpoints(self, pattern="epoch-*"):
        return sorted((self.output / "checkpoints").glob(pattern))

    def result(self):
        """All that a run leaves, the speed aside."""
        history = json.loads((self.output / "history.json").read_text("utf-8"))
        del history["tokens/s"]
        with np.load(self.output.with_name("variables.npz")) as file:
            variables = [file[name] for name in file.files]
        best = kformer.load(self.output / "translator.keras").transformer.get_weights()
        return history, variables, best


def assert_equal_to_the_bit(run, other):
    (history, *arrays), (other_history, *other_arrays) = run.result(), other.result()
    assert history == other_history
    for values, other_values in zip(arrays, other_arrays, strict=True):
        for one, another in zip(values, other_values, strict=True):
            np.testing.assert_array_equal(one, another)


@pytest.fixture(scope="module")
def recipe(tiny_recipe):
    return dataclasses.replace(
        tiny_recipe, epochs=4, patience=3, byte_spelling=0.05, gradient_accumulation=2
    )


@pytest.fixture(scope="module")
def undisturbed(recipe, parallel_text, tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("undisturbed"), recipe, parallel_text)
    run.finish()
    return run


def kill_at_random(run, kills):
    """Kills the run so many times: by turns some time after it has gone on, or as it writes."""
    chance = random.Random(0)
    killed = 0
    for i in range(kills):
        before = run.checkpoints()
        wait = chance.uniform(0, 0.5)
        went_on = []

        def some_time_later():
            if not went_on and run.checkpoints() != before:
                went_on.append(time.monotonic())
            return went_on and time.monotonic() > went_on[0] + wait

        def writing():
            return run.checkpoints() != before and run.checkpoints(".epoch-*")

        killed += run.kill_when(writing if i % 2 else some_time_later)
    return killed


def test_a_run_killed_three_times_ends_as_if_it_had_not_been(
    undisturbed, recipe, parallel_text, tmp_path
):
    run = Run(tmp_path, recipe, parallel_text)
    assert kill_at_random(run, kills=3) == 3
    run.finish()
    assert_equal_to_the_bit(run, undisturbed)


def test_two_runs_in_two_processes_are_equal_to_the_bit(
    undisturbed, recipe, parallel_text, tmp_path
):
    run = Run(tmp_path, recipe, parallel_text)
    run.finish()
    assert_equal_to_the_bit(run, undisturbed)
