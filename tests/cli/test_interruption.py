"""`kformer train` that is stopped, has no room, or diverges: one line that tells how to resume."""

import itertools
import re
import resource
import signal
import subprocess
import sys

import pytest

from support import toy


@pytest.fixture
def command_line(toy_run, tmp_path):
    """The arguments of a run that would take minutes."""
    files = toy_run.files
    return [
        "train",
        "--source",
        files["train.de"],
        "--target",
        files["train.en"],
        "--output",
        tmp_path / "run",
        *itertools.chain(*toy.RECIPE.items()),
        "--epochs",
        1000,
    ]


def run_until_the_first_epoch(arguments, number):
    """Runs the command, sends it a signal after an epoch, and returns its code and its stderr."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kformer", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    said = list(
        itertools.takewhile(lambda line: not re.match(r" +\d+/1000 ", line), process.stdout)
    )
    process.send_signal(number)
    _, errors = process.communicate()
    return process.returncode, said, errors


@pytest.mark.prove
@pytest.mark.parametrize(
    ("first", "then"),
    [
        (signal.SIGINT, signal.SIGTERM),
        pytest.param(signal.SIGTERM, signal.SIGINT, marks=pytest.mark.prove),
    ],
)
def test_a_signal_saves_and_the_same_command_goes_on(command_line, first, then):
    stopped = (
        r"kformer: Stopped (after epoch (\d+)|in epoch (\d+), after batch \d+ of \d+); "
        r"all is saved\. Run the same command to resume\.\n"
    )
    code, _, errors = run_until_the_first_epoch(command_line, first)
    assert code == 128 + first
    place = re.fullmatch(stopped, errors)
    assert place, errors
    code, said, errors = run_until_the_first_epoch(command_line, then)
    assert code == 128 + then
    assert said[0] == f"Resuming {place[1]}.\n"
    later = re.fullmatch(stopped, errors)
    assert int(later[2] or later[3]) >= int(place[2] or place[3])


@pytest.mark.prove
def test_a_full_disk_is_said_in_one_line(command_line, tmp_path):
    """As if it were full in the middle of a checkpoint."""

    def small_files():
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (530_000, 530_000)
        )  # Enough for all but a checkpoint.

    result = toy.run_command(*command_line, preexec_fn=small_files)
    assert result.returncode == 2
    assert re.fullmatch(
        r"kformer: A checkpoint could not be written \(File too large\); there is none before it\. "
        rf"Received: '{tmp_path}/run/checkpoints'\.\n",
        result.stderr,
    )
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == [
        "tokenizer.model"
    ]


@pytest.mark.prove
def test_learning_that_diverges_is_said_in_one_line_and_its_advice_helps(command, command_line):
    result = command(*command_line, "--learning-rate-scale", 1e30)
    assert result.returncode == 2
    assert re.fullmatch(
        r"kformer: The loss and the weights must stay finite\. Run the command again with a lower "
        r"--learning-rate-scale, a longer --warmup-steps: it resumes this run, whose last "
        r"checkpoint is epoch-0000-batch-000000\.npz\. With --restart it starts again\. "
        r"Received: .* at step \d+\.\n",
        result.stderr,
    )
    lower = ("--learning-rate-scale", 0.5, "--epochs", 1)
    result = command(*command_line, *lower)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "Resuming from the first step.\nepochs: 1000 -> 1 from step 0\n"
        "learning_rate_scale: 1e+30 -> 0.5 from step 0\n  epoch "
    )
    assert re.search(r"^    1/1 .* 0:00:00$", result.stdout, re.MULTILINE)
