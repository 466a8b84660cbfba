"""A run that is killed and resumed equals an uninterrupted one to the bit."""

import dataclasses
import json
import random
import subprocess
import sys
import time

import numpy as np
import pytest

import kformer
from support import train_and_dump

SCRIPT = train_and_dump.__file__


class Run:
    """A run in `folder`/run, and the process that trains in it."""

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
            time.sleep(0.001)  # Leaves the processor to the run.
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
    """Kills the run so many times: by turns a while after a checkpoint, and as it writes one."""
    chance = random.Random(0)
    for i in range(kills):
        if i % 2:
            left = {*run.checkpoints(".epoch-*")}  # By the kill before.
            assert run.kill_when(lambda left=left: {*run.checkpoints(".epoch-*")} - left)
        else:
            assert run.kill_when(while_after_a_checkpoint(run, chance.uniform(0, 0.5)))


def while_after_a_checkpoint(run, seconds):
    """Returns a callable: whether so much time has passed since there was another checkpoint."""
    before, seen = run.checkpoints(), []

    def moment():
        if not seen and run.checkpoints() != before:
            seen.append(time.monotonic())
        return seen and time.monotonic() > seen[0] + seconds

    return moment


def test_a_killed_run_equals_an_uninterrupted_one(undisturbed, recipe, parallel_text, tmp_path):
    run = Run(tmp_path, recipe, parallel_text)
    kill_at_random(run, kills=1)
    run.finish()
    assert_equal_to_the_bit(run, undisturbed)


@pytest.mark.prove
def test_a_run_killed_twenty_times_equals_it_too(recipe, parallel_text, tmp_path_factory):
    long = dataclasses.replace(recipe, epochs=12, dropout=0.3, ema_momentum=0.99)
    undisturbed, run = (
        Run(tmp_path_factory.mktemp(name), long, parallel_text) for name in ("calm", "storm")
    )
    undisturbed.finish()
    kill_at_random(run, kills=20)
    run.finish()
    assert_equal_to_the_bit(run, undisturbed)


@pytest.mark.prove
def test_two_runs_in_two_processes_are_equal_to_the_bit(
    undisturbed, recipe, parallel_text, tmp_path
):
    run = Run(tmp_path, recipe, parallel_text)
    run.finish()
    assert_equal_to_the_bit(run, undisturbed)
