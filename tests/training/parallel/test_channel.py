"""Messages between the processes of a run, and what they do when one of them dies."""

import random
import socket
import threading
import time

import pytest

from kformer.training.parallel.channel import Channel
from support.processes import run_python, started_python

# A process that exchanges its number, and then computes for a minute.
MEMBER = """
import sys, time
from kformer.training.parallel.channel import Channel
host, port, processes, process = sys.argv[1], *map(int, sys.argv[2:5])
channel = Channel(host, port, processes, process, seconds=20)
channel.on_loss = lambda: print("cleaned up", flush=True)
print(*channel.exchange(b"%d" % process), flush=True)
time.sleep(60)
channel.close()
"""


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


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


def connected(port, processes):
    """Returns the channels of so many processes, here of threads."""
    found = [None] * processes

    def connect(process):
        found[process] = Channel("127.0.0.1", port, processes, process, seconds=20)

    threads = [threading.Thread(target=connect, args=(i,)) for i in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_all_processes_get_the_contents_of_all_in_their_order(port):
    channels = connected(port, 3)
    long = random.Random(0).randbytes(3_000_000)
    for round in range(3):
        sent = [b"", long, b"%d" % round]
        found = [None] * 3

        def exchange(i, sent=sent, found=found):
            found[i] = channels[i].exchange(sent[i])

        threads = [threading.Thread(target=exchange, args=(i,)) for i in (2, 1, 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [sent] * 3
    for channel in channels:
        channel.close()


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
        Channel("127.0.0.1", port, 3, 0, seconds=2)
    _, errors = present[0].communicate(timeout=30)
    assert "TimeoutError: All processes must come within 2 s. Missing: 1." in errors


def test_a_coordinator_that_does_not_come_is_named(port):
    with pytest.raises(TimeoutError, match=f"Process 0 must answer within 0.1 s. .*:{port}"):
        Channel("127.0.0.1", port, 2, 1, seconds=0.1)


def test_two_processes_of_one_number_are_refused(members, port):
    twins = members([1, 1], 3)
    with pytest.raises(ValueError, match="Received: process 1 of 3, twice"):
        Channel("127.0.0.1", port, 3, 0, seconds=20)
    for twin in twins:
        assert "Received: process 1 of 3, twice" in twin.communicate(timeout=30)[1]


def test_what_is_not_a_process_of_a_run_is_ignored(port):
    first = threading.Thread(target=lambda: channels.append(Channel("127.0.0.1", port, 2, 0)))
    channels = []
    first.start()
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                break
        except OSError:
            time.sleep(0.01)  # Process 0 does not listen yet.
    channels.append(Channel("127.0.0.1", port, 2, 1))
    first.join()
    assert sorted(channel.process for channel in channels) == [0, 1]
    for channel in channels:
        channel.close()


def test_a_port_in_use_is_refused(port):
    refused = pytest.raises(ValueError, match=rf"{port} \(Address already in use\)\.$")
    with socket.create_server(("127.0.0.1", port)), refused:
        Channel("127.0.0.1", port, 2, 0)


def test_the_channel_needs_nothing_but_the_standard_library():
    code = "import sys, kformer.training.parallel.team; print({'numpy', 'keras'} & {*sys.modules})"
    assert run_python("-c", code).stdout.strip() == "set()"
