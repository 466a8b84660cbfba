"""Messages between the processes of a run, and what they do when one of them dies."""

import random
import socket
import time

import pytest

from kformer.training.parallel.channel import Channel
from support.processes import run_python, started_python
from support.training.channels import SECRET, at_once, connected, free_port

# A process that exchanges its number, and then computes for a minute.
MEMBER = """
import sys, time
from kformer.training.parallel.channel import Channel
host, port, processes, process = sys.argv[1], *map(int, sys.argv[2:5])
channel = Channel(host, port, processes, process, b"the secret of this run", seconds=20)
channel.at_loss.append(lambda: print("cleaned up", flush=True))
print(*channel.exchange(b"%d" % process), flush=True)
time.sleep(60)
channel.close()
"""


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def members(port):
    """A function that starts the processes of these numbers, which end with the test."""
    started = []

    def start(numbers, processes):
        started.extend(
            started_python("-c", MEMBER, "127.0.0.1", port, processes, one) for one in numbers
        )
        return started

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_all_processes_get_the_contents_of_all_in_their_order():
    long = random.Random(0).randbytes(3_000_000)
    with connected(3) as channels:
        for round in range(3):
            sent = [b"", long, b"%d" % round]
            found = at_once(lambda i, sent=sent: channels[i].exchange(sent[i]), 2, 1, 0)
            assert found == [sent] * 3


def test_a_process_that_waits_for_one_that_has_ended_gets_an_error():
    with connected(2) as channels:
        channels[1].close()
        with pytest.raises(ConnectionError, match="Process 1 of this run has ended before"):
            channels[0].exchange(b"")


@pytest.mark.parametrize("victim", [0, 2])
def test_when_a_process_is_killed_the_others_end_with_one_line(members, victim):
    processes = members(range(3), 3)
    for process in processes:
        assert process.stdout.readline() == "b'0' b'1' b'2'\n"
    start = time.monotonic()
    processes[victim].kill()
    for number, process in enumerate(processes):
        printed, errors = process.communicate(timeout=30)
        if number != victim:
            assert process.returncode == 2
            assert printed == "cleaned up\n"
            assert errors.count("\n") == 1
            assert f"kformer: Process {victim} of this run has died, or its" in errors
    assert time.monotonic() - start < 10


def test_a_process_that_does_not_come_is_named(members, port):
    present = members([2], 3)
    with pytest.raises(TimeoutError, match=r"within 2 s\. Missing: 1\."):
        Channel("127.0.0.1", port, 3, 0, SECRET, seconds=2)
    _, errors = present[0].communicate(timeout=30)
    assert "TimeoutError: All processes must come within 2 s. Missing: 1." in errors


def test_a_coordinator_that_does_not_come_is_named(port):
    with pytest.raises(TimeoutError, match=f"Process 0 must answer within 0.1 s. .*:{port}"):
        Channel("127.0.0.1", port, 2, 1, SECRET, seconds=0.1)


def test_two_processes_of_one_number_are_refused(members, port):
    twins = members([1, 1], 3)
    with pytest.raises(ValueError, match="Received: process 1 of 3, twice"):
        Channel("127.0.0.1", port, 3, 0, SECRET, seconds=20)
    for twin in twins:
        assert "Received: process 1 of 3, twice" in twin.communicate(timeout=30)[1]


def test_a_port_in_use_is_refused(port):
    refused = pytest.raises(ValueError, match=rf"{port} \(Address already in use\)\.$")
    with socket.create_server(("127.0.0.1", port)), refused:
        Channel("127.0.0.1", port, 2, 0, SECRET)


def test_the_channel_needs_nothing_but_the_standard_library():
    code = "import sys, kformer.training.parallel.process_team\n"
    code += "print({'numpy', 'keras'} & {*sys.modules})"
    assert run_python("-c", code).stdout.strip() == "set()"
