"""Processes that train together, as one run on JAX."""

import dataclasses
import importlib.util
import os
import random
import signal
import socket
import time
from collections import Counter

import numpy as np
import pytest

from kformer.training import Recipe, translation_dataset
from kformer.training.data import batching
from kformer.training.parallel.hosts import HEARTBEAT, join_processes
from kformer.training.parallel.meetings import Agreement
from kformer.training.parallel.process_team import ProcessTeam, _printable, interruptible
from kformer.training.resumption.checkpoint import newest_checkpoint
from kformer.training.run.run_config import check_same, is_comparable
from support import toy
from support.processes import run_python, started_python
from support.training.pairs import expected_rows, many_pairs
from support.training.pairs import write as write_pairs
from support.training.same_run import assert_same_run, weights_of
from support.training.teams import at_once, connected, free_port

needs_jax = pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="JAX is not installed")


@pytest.mark.prove
@pytest.mark.parametrize(("before", "after"), [(2, 1), pytest.param(1, 3, marks=pytest.mark.prove)])
def test_processes_share_each_batch_and_go_on_at_the_same_place(
    tmp_path, tokenizer, monkeypatch, before, after
):
    """After 4 batches, other processes see the rest of the pass, and each pair once."""
    pairs = many_pairs(300)
    paths = write_pairs(tmp_path, pairs)

    def rows(processes, part):
        found = Counter()
        for process in range(processes):
            share = (process, processes)
            monkeypatch.setattr(batching, "share_of_batches", lambda share=share: share)
            monkeypatch.setattr(batching, "batch_devices", lambda: processes)
            sizes = {"tokens_per_batch": 200, "max_length": 40, "fixed_shapes": True}
            batches = part(translation_dataset(*paths, tokenizer, **sizes))
            full = [
                tuple(side.numpy()[np.any(target.numpy() != 0, axis=1)] for side in (*ids, target))
                for ids, target in batches
            ]
            found += Counter(
                (tuple(source[source != 0]), tuple(target[target != 0]))
                for sources, _, targets in full
                for source, target in zip(sources, targets, strict=True)
            )
        return found

    begun, gone_on = rows(before, lambda all: all.take(4)), rows(after, lambda all: all.skip(4))
    assert begun and gone_on
    assert begun + gone_on == expected_rows(pairs, tokenizer, 40)


@pytest.mark.prove
def test_processes_need_batches_of_fixed_shapes(monkeypatch, tokenizer, tmp_path):
    paths = write_pairs(tmp_path, many_pairs(9))
    monkeypatch.setattr(batching, "share_of_batches", lambda: (0, 2))
    with pytest.raises(ValueError, match="Received: fixed_shapes=False, 2 processes"):
        translation_dataset(*paths, tokenizer, fixed_shapes=False)


@needs_jax
def test_all_processes_get_the_contents_of_all_in_their_order():
    long = random.Random(0).randbytes(9_000_000)
    contents = [[b"", long, b"%d" % round] for round in range(3)]

    def exchanged(team):
        return [team.exchange_bytes(content[team.process]) for content in contents]

    with connected(3) as teams:
        assert at_once(exchanged, *teams) == [contents] * 3


@needs_jax
@pytest.mark.prove
def test_all_processes_save_and_stop_after_the_same_batch():
    def train(team):
        process = team.process
        agreement = Agreement(team)
        assert agreement.writes == (process == 0)
        found = []
        for batch in range(9):
            time.sleep(0.01 * process)
            signal_number = signal.SIGTERM if process == 1 and batch > 3 else None
            found.append(agreement.meet(process == 0, signal_number))
        return [*found, agreement.meet(False, signal_number, now=True)]

    with connected(3) as teams:
        answers = at_once(train, *teams)
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == (True, None)  # They meet after the first batch.
    assert answers[0][-1] == (False, signal.SIGTERM)


@pytest.mark.prove
@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"[" * 10**5, b"null", b"{}", b"[1, null, 0.5]", b"[true, 15]"]
)
def test_what_another_process_brings_to_a_meeting_has_the_right_types(content):
    class Scripted(ProcessTeam):
        def exchange_bytes(self, own):
            return [own, content]

    shown = r"Received: .* from process 1\.$"
    with pytest.raises(ValueError, match=shown):
        Agreement(Scripted(0, 2)).meet(False, None)
    with pytest.raises(ValueError, match=shown):
        Scripted(0, 2).exchange({**config(), "versions": {}}, is_comparable)


def recipe(**changes):
    return dataclasses.asdict(Recipe.named("tiny", **changes))


def config(**changes):
    same = {"task": "translation", "recipe": recipe(seed=0), "options": {}}
    same |= {"sha256": {"source": ["ab"]}, "versions": {"keras": "3"}}
    return {**same, "tokenizer": "cd", "target_tokenizer": None, **changes}


@pytest.mark.prove
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": recipe(seed=1)}, "process 1 with seed=1 instead of 0"),
        ({"sha256": {"source": ["cd"]}}, "process 1 with other text in --source"),
        ({"versions": {"keras": "4"}}, r"process 1 with versions=\{'keras': '4'\} instead of"),
        ({"tokenizer": "ef"}, "process 1 with tokenizer='ef' instead of 'cd'"),
    ],
)
def test_processes_with_other_settings_text_or_versions_are_refused(changes, message):
    check_same([config(), config()])
    with pytest.raises(ValueError, match=message):
        check_same([config(), config(**changes)])


@pytest.mark.prove
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("host:1", 2, None), "coordinator='host:1', processes=2, process=None"),
        ((None, None, 1), "coordinator=None, processes=None, process=1"),
        (("host", 2, 0), "coordinator='host'"),
        (("host:65535", 2, 0), "coordinator='host:65535'"),
        (("host:9", 2, 2), "process=2 of processes=2"),
        (("host:9", 2, 1), "backend='tensorflow', processes=2"),
    ],
)
def test_incomplete_or_impossible_processes_are_refused(given, message):
    with pytest.raises(ValueError, match=f"Received: {message}"), join_processes(*given):
        pass


@pytest.mark.prove
def test_what_a_function_returns_or_raises_comes_back_and_waiting_ends_in_time():
    assert interruptible(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)
    with pytest.raises(TimeoutError):
        interruptible(time.sleep, 60, seconds=0.01)


def test_a_reason_of_another_process_is_printed_as_one_line():
    assert _printable("a\r\n b\x1b[31m\xad") == "a b?[31m?"
    assert len(_printable("a" * 10**6)) < 10_000


def test_a_process_on_its_own_imports_neither_numpy_nor_keras():
    code = "import sys, kformer.training.parallel.process_team\n"
    code += "print({'numpy', 'keras', 'jax'} & {*sys.modules})"
    assert run_python("-c", code).stdout.strip() == "set()"


# A process that joins, waits some seconds at most, and then does what its last argument says.
MEMBER = """
import contextlib, os, sys, time
os.environ["KERAS_BACKEND"] = "jax"
from kformer.training.parallel import hosts
from kformer.training.parallel.process_team import team
address, code, *numbers = sys.argv[1:]
processes, process, hosts.SECONDS = map(int, numbers)
with hosts.join_processes(address, processes, process):
    team().at_loss(lambda: print("cleaned up", file=sys.stderr))
    exec(code)
"""


def member(port, processes, process, code="", seconds=60):
    return started_python("-c", MEMBER, f"127.0.0.1:{port}", code, processes, process, seconds)


@needs_jax
@pytest.mark.prove
@pytest.mark.parametrize(
    ("process", "message"),
    [(0, "All processes of a run must come within 1 s."), (1, "Process 0 must answer within 1 s.")],
)
def test_a_process_that_waits_in_vain_ends_with_an_error_and_no_abort(process, message):
    alone = member(free_port(), 2, process, seconds=1)
    _, errors = alone.communicate(timeout=60)
    assert errors.splitlines()[-1].startswith(f"TimeoutError: {message}")
    assert alone.returncode > 0  # JAX's abort would be a signal.


@needs_jax
@pytest.mark.prove
def test_a_port_in_use_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _, errors = member(port, 2, 0).communicate(timeout=60)
    assert f"127.0.0.1:{port} (Address already in use)" in errors.splitlines()[-1]


@needs_jax
@pytest.mark.prove
@pytest.mark.parametrize("failing", [0, 1])
def test_when_a_process_fails_a_waiting_one_ends_with_its_reason_and_cleans_up(failing):
    """... also where it waits for something else than the one that fails."""
    codes = ["time.sleep(60)"] * 2
    codes[failing] = "raise ValueError('Disk full.')"
    port = free_port()
    members = [member(port, 2, i, code) for i, code in enumerate(codes)]
    outputs = [process.communicate(timeout=50)[1].splitlines() for process in members]
    assert [process.returncode for process in members] == [2, 2]
    reason, cleaned = outputs[1 - failing]
    assert reason.startswith(f"kformer: Process {failing} has ended: Disk full. Start the same")
    assert cleaned == "cleaned up"
    assert outputs[failing][-1] == "ValueError: Disk full."


@needs_jax
@pytest.mark.prove
def test_processes_that_expect_other_numbers_of_them_are_refused():
    port = free_port()
    members = [member(port, 2, 0), member(port, 3, 1)]
    for process in members:
        _, errors = process.communicate(timeout=60)
        assert "Received: processes=3 in process 1 instead of 2." in errors
        assert process.returncode == 2


class Command:
    """`kformer train` in some processes, with `devices` simulated devices each."""

    def __init__(self, folder, output, processes=2, devices=1, dropout=0.1, seeds=(0, 0)):
        files = toy.write(folder)
        options = {**toy.RECIPE, "--dropout": dropout, "--epochs": 20}
        options |= {"--backend": "jax", "--output": output}
        options |= {"--source": files["train.de"], "--target": files["train.en"]}
        port = free_port()
        flags = f"--xla_force_host_platform_device_count={devices}"
        self.processes = []
        for process in range(processes):
            if processes > 1:
                options |= {"--coordinator": f"127.0.0.1:{port}", "--processes": processes}
                options |= {"--process": process, "--seed": seeds[process]}
            arguments = [part for option in options.items() for part in option]
            environment = {**os.environ, "XLA_FLAGS": flags}
            self.processes.append(
                started_python("-m", "kformer", "train", *arguments, env=environment)
            )

    def finish(self):
        for process in self.processes:
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors

    def kill(self, victim):
        """Kills one process; the other must end, with one line or aborted by JAX."""
        start = time.monotonic()
        self.processes[victim].kill()
        survivor = self.processes[1 - victim]
        _, errors = survivor.communicate(timeout=HEARTBEAT + 30)
        if survivor.returncode == 2:
            (line,) = errors.splitlines()
            assert line.startswith("kformer: Another process of this run has died")
        else:
            assert survivor.returncode == -signal.SIGABRT
            assert "another task died" in errors
        self.processes[victim].communicate()
        return time.monotonic() - start


def kill_one_at_random(folder, output, chance, **settings):
    """Starts two processes, and kills one of them a while after the next checkpoint."""
    before = {*output.glob("checkpoints/epoch-*.npz")}
    command = Command(folder, output, **settings)
    while not {*output.glob("checkpoints/epoch-*.npz")} - before:
        assert all(process.poll() is None for process in command.processes)
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.5))
    victim = chance.randrange(2)
    seconds = command.kill(victim)
    assert victim or seconds < 10  # Without process 0, JAX does not wait for its heartbeat.
    assert newest_checkpoint(output / "checkpoints")
    assert not [*output.glob("checkpoints/damaged-*")]


@needs_jax
@pytest.mark.prove
def test_when_a_process_is_killed_the_others_end_and_leave_a_whole_checkpoint(tmp_path):
    kill_one_at_random(tmp_path, tmp_path / "run", random.Random(0))


@needs_jax
@pytest.mark.prove
def test_when_a_process_fails_all_end_at_once_with_one_line(tmp_path):
    """... and none waits at its exit, as JAX would, until it is aborted."""
    command = Command(tmp_path, tmp_path / "run", seeds=(0, 1))
    message = (
        "All processes of a run need the same settings, text and versions. Received: process 1"
    )
    for process in command.processes:
        _, errors = process.communicate(timeout=200)
        (line,) = errors.splitlines()
        assert message in line
        assert process.returncode == 2


@needs_jax
@pytest.mark.prove
def test_a_run_killed_ten_times_equals_an_undisturbed_one(tmp_path):
    calm, storm = (tmp_path / name for name in ("calm", "storm"))
    Command(tmp_path, calm).finish()
    chance = random.Random(0)
    for _ in range(10):
        kill_one_at_random(tmp_path, storm, chance)
    Command(tmp_path, storm).finish()
    assert_same_run(storm, calm)


@needs_jax
@pytest.mark.prove
def test_another_number_of_processes_goes_on_from_the_same_place_in_the_text(tmp_path):
    """Without dropout, whose random numbers depend on who draws them."""
    calm, changed = tmp_path / "calm", tmp_path / "changed"
    Command(tmp_path, calm, processes=1, dropout=0).finish()
    kill_one_at_random(tmp_path, changed, random.Random(1), dropout=0)
    Command(tmp_path, changed, processes=1, dropout=0).finish()
    for one, other in zip(weights_of(changed), weights_of(calm), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
