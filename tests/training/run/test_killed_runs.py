"""A run that is killed and resumed equals an uninterrupted one to the bit."""

import dataclasses
import json
import random
import subprocess
import sys
import time

import pytest

from support.training.same_run import assert_same_run

SCRIPT = """
import json, sys
from kformer.training import Recipe, train
options = json.loads(sys.argv[1])
train(Recipe(**options.pop("recipe")), **options, checkpoint_seconds=0)  # After every batch.
"""


class Run:
    """A run in `folder`/run, and the process that trains in it."""

    def __init__(self, folder, recipe, files):
        self.output = folder / "run"
        names = {"source": "train.de", "target": "train.en"}
        names |= {"valid_source": "valid.de", "valid_target": "valid.en"}
        options = {argument: str(files[name]) for argument, name in names.items()}
        options |= {"recipe": dataclasses.asdict(recipe), "output": str(self.output)}
        self.options = json.dumps(options)
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, self.options],
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


@pytest.mark.prove
def test_a_killed_run_equals_an_uninterrupted_one_of_another_process(
    again, tiny_run, tiny_recipe, parallel_text, tmp_path
):
    run = Run(tmp_path, tiny_recipe, parallel_text)
    assert run.kill_when(lambda: run.checkpoints("epoch-0001-batch-*[1-9].npz"))
    again(run.output)
    assert_same_run(run.output, tiny_run[0])


@pytest.mark.prove
def test_a_run_killed_twenty_times_equals_one_in_one_go(
    tiny_recipe, parallel_text, tmp_path_factory
):
    numbers = {"epochs": 12, "patience": 3, "dropout": 0.3, "ema_momentum": 0.99}
    numbers |= {"byte_spelling": 0.05, "noise": "robust", "consistency": "simcut"}
    numbers |= {"gradient_accumulation": 2}
    long = dataclasses.replace(tiny_recipe, **numbers)
    undisturbed, run = (
        Run(tmp_path_factory.mktemp(name), long, parallel_text) for name in ("calm", "storm")
    )
    undisturbed.finish()
    kill_at_random(run, kills=20)
    run.finish()
    assert_same_run(run.output, undisturbed.output)
