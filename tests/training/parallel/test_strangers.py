"""What comes to the port of a run and has not its secret: it neither enters nor ends the run."""

import contextlib
import itertools
import os
import socket
import struct
import threading
import time
import tracemalloc

import pytest

from kformer.training.parallel.channel import Channel
from kformer.training.parallel.greeting import Keys, WrongSecret, greet, run_secret
from kformer.training.parallel.peer_connection import CONTENT, Forged, PeerConnection, printable
from support.processes import started_python
from support.training.channels import SECRET, at_once, free_port

ADDRESS = "127.0.0.1"


def to(port):
    """Returns a connection to `port`, as soon as something listens there."""
    for _ in range(1000):
        with contextlib.suppress(OSError):
            connection = socket.create_connection((ADDRESS, port), timeout=20)
            if connection.getsockname() != connection.getpeername():
                return connection
            connection.close()
        time.sleep(0.01)
    raise TimeoutError


class Proxy:
    """Stands between processes and process 0, and records what the first one sends and gets.

    Args:
        port: Of process 0.
        change: Function of the number of a byte from the process, and of the byte.
    """

    def __init__(self, port, change=lambda number, byte: byte):
        self._server = socket.create_server((ADDRESS, 0))
        self.port = self._server.getsockname()[1]
        self.sent, self.received = bytearray(), bytearray()
        self._change = change
        self._thread = threading.Thread(target=self._run, args=(port,))
        self._thread.start()

    def _run(self, port):
        with self._server:
            process, _ = self._server.accept()
        with process, to(port) as host:
            back = threading.Thread(target=self._copy, args=(host, process, self.received))
            back.start()
            self._copy(process, host, self.sent, self._change)
            back.join(60)

    def _copy(self, source, sink, record, change=lambda number, byte: byte):
        with contextlib.suppress(OSError):
            while content := source.recv(2**16):
                numbers = itertools.count(len(record))
                record += content
                sink.sendall(bytes(map(change, numbers, content)))
            sink.shutdown(socket.SHUT_WR)

    def join(self):
        self._thread.join(60)


@pytest.fixture(scope="module")
def recorded():
    """What process 1 of a run sent and got, from its greeting to its end."""
    port = free_port()
    proxy = Proxy(port)

    def join(process):
        return Channel(ADDRESS, proxy.port if process else port, 2, process, SECRET, seconds=20)

    channels = at_once(join, 0, 1)
    at_once(lambda channel: channel.exchange(b"weights"), *channels)
    for channel in channels:
        channel.close()
    proxy.join()
    return bytes(proxy.sent), bytes(proxy.received)


def greets_with_another_secret(port):
    with contextlib.suppress(WrongSecret, EOFError), to(port) as connection:
        greet(connection, b"another secret", 1, 3, time.monotonic() + 20)
    return []


def is_silent_in_many_connections(port):
    return [to(port) for _ in range(300)]


def sends(content):
    def stranger(port):
        connection = to(port)
        connection.sendall(content)
        return [connection]

    return stranger


def goes_away_after(content):
    def stranger(port):
        with to(port) as connection:
            connection.sendall(content)
        return []

    return stranger


STRANGERS = {
    "a request of HTTP": sends(b"GET / HTTP/1.1\r\n\r\n"),
    "a greeting of version 1": sends(b"kformer" + (1).to_bytes(4)),
    "half a greeting": sends(b"kformer\x02" + bytes(9)),
    "half a greeting, and goes": goes_away_after(b"kformer\x02" + bytes(9)),
    "nothing, and goes": goes_away_after(b""),
    "a greeting and a guessed proof": sends(
        b"kformer\x02" + bytes(32) + struct.pack("!II", 1, 3) + bytes(32)
    ),
    "a length of 2 ** 63": sends(b"c" + struct.pack("!Q", 2**63) + bytes(9999)),
    "a failure, as if it were a member": sends(b"f" + struct.pack("!I", 4) + b"stop" + bytes(32)),
    "another secret": greets_with_another_secret,
    "nothing, in 300 connections": is_silent_in_many_connections,
}


def run_beside(stranger):
    """Has three processes exchange something after `stranger` has come; returns the seconds."""
    port, found = free_port(), []
    first = threading.Thread(
        target=lambda: found.append(Channel(ADDRESS, port, 3, 0, SECRET, seconds=30))
    )
    first.start()
    held = stranger(port)
    start = time.monotonic()
    found += at_once(lambda i: Channel(ADDRESS, port, 3, i, SECRET, seconds=30), 2, 1)
    first.join(30)
    channels = sorted(found, key=lambda channel: channel.process)
    contents = at_once(lambda channel: channel.exchange(b"%d" % channel.process), *channels)
    assert contents == [[b"0", b"1", b"2"]] * 3
    with pytest.raises(ConnectionRefusedError):  # Nobody is let in any more.
        socket.create_connection((ADDRESS, port))
    for one in (*channels, *held):
        one.close()
    return time.monotonic() - start


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_that_sends(stranger):
    """... changes nothing: the processes meet at once, and exchange what they send."""
    assert run_beside(stranger) < 10


def test_a_recorded_greeting_lets_nobody_in(recorded):
    sent, _ = recorded
    assert run_beside(sends(sent)) < 10


def test_a_process_with_another_secret_ends_at_once_and_the_others_wait():
    port = free_port()

    def join(process):
        secret = SECRET if process == 0 else b"another secret"
        with pytest.raises(ValueError if process else TimeoutError) as refused:
            Channel(ADDRESS, port, 2, process, secret, seconds=1.5)
        return str(refused.value)

    first, second = at_once(join, 0, 1)
    assert f"KFORMER_RUN_SECRET. Received: another one than what listens at {ADDRESS}" in second
    assert "Missing: 1. 1 connections without the secret of KFORMER_RUN_SECRET were" in first


@pytest.mark.parametrize("answer", ["nothing", "garbage", "recorded"])
def test_what_listens_in_place_of_process_0_does_not_get_a_process(recorded, answer):
    contents = {"nothing": b"", "garbage": bytes(99), "recorded": recorded[1]}
    with socket.create_server((ADDRESS, 0)) as server:
        port = server.getsockname()[1]

        def listen(_):
            connection, _ = server.accept()
            connection.sendall(contents[answer])
            return connection

        def join(_):
            error = TimeoutError if answer == "nothing" else ValueError
            with pytest.raises(error, match=f"{ADDRESS}:{port}"):
                Channel(ADDRESS, port, 2, 1, SECRET, seconds=1)

        at_once(lambda call: call(None), listen, join)[0].close()


@pytest.mark.parametrize(("process", "processes"), [(1, 4), (0, 3), (3, 3), (2**32 - 1, 3)])
def test_a_process_of_another_run_ends_both_with_one_message(process, processes):
    port = free_port()

    def join(number):
        if number == 0:
            with pytest.raises(ValueError, match=rf"process {process} of {processes}") as refused:
                Channel(ADDRESS, port, 3, 0, SECRET, seconds=20)
            return str(refused.value).encode()
        with to(port) as connection:
            keys = greet(connection, SECRET, process, processes, time.monotonic() + 20)
            return PeerConnection(connection, keys).receive(time.monotonic() + 20)[1]

    assert len({*at_once(join, 0, 1)}) == 1


def test_a_process_that_dies_before_all_have_come_ends_the_others():
    port = free_port()

    def greeted(process):
        connection = to(port)
        keys = greet(connection, SECRET, process, 4, time.monotonic() + 20)
        return PeerConnection(connection, keys)

    def join(process):
        if process == 0:
            with pytest.raises(OSError, match="Process 1 of this run has died") as refused:
                Channel(ADDRESS, port, 4, 0, SECRET, seconds=20)
            return str(refused.value).encode()
        second = greeted(2)
        greeted(1).socket.close()
        with second.socket:
            return second.receive(time.monotonic() + 20)[1]

    assert len({*at_once(join, 0, 2)}) == 1


@pytest.fixture
def ends():
    """Both ends of a connection, and what an attacker may write into: the socket of the first."""
    one, other = socket.socketpair()
    with one, other:
        yield PeerConnection(one, Keys(b"a", b"b")), PeerConnection(other, Keys(b"b", b"a"))


def sent_by(connection, *contents):
    """Returns the bytes of messages, which do not reach the other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        before, connection.socket = connection.socket, ours
        for content in contents:
            connection.send(CONTENT, content)
        connection.socket = before
        return theirs.recv(2**16)


def test_a_message_is_refused_if_any_bit_of_it_has_changed():
    one, other = PeerConnection(None, Keys(b"a", b"b")), Keys(b"b", b"a")
    message = sent_by(one, b"weights")
    for bit in range(8 * len(message)):
        changed = bytearray(message)
        changed[bit // 8] ^= 1 << bit % 8
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(changed + bytes(99))
            theirs.shutdown(socket.SHUT_WR)
            with pytest.raises((Forged, EOFError)):
                PeerConnection(ours, other).receive()


@pytest.mark.parametrize("attack", ["repeated", "left out", "of the other direction"])
def test_a_message_is_refused_that_is(ends, attack):
    one, other = ends
    first, second = sent_by(one, b"first"), sent_by(one, b"second")
    own = sent_by(other, b"own")
    attacks = {"repeated": first + first, "left out": second, "of the other direction": own}
    one.socket.sendall(attacks[attack])
    with pytest.raises(Forged):
        for _ in range(2):
            other.receive(time.monotonic() + 5)


def test_a_length_is_refused_before_anything_of_it_is_read(ends):
    one, other = ends
    one.socket.sendall(b"c" + struct.pack("!I", 2**32 - 1))
    tracemalloc.start()
    with pytest.raises(Forged):
        other.receive(time.monotonic() + 5)
    assert tracemalloc.get_traced_memory()[1] < 2**16
    tracemalloc.stop()
    with pytest.raises(ValueError, match=r"at most 16,777,216 bytes\. Received: 16,777,217"):
        one.send(CONTENT, bytes(2**24 + 1))


MEMBER = """
import sys
from kformer.training.parallel.channel import Channel
channel = Channel("127.0.0.1", int(sys.argv[1]), 2, int(sys.argv[2]), b"the secret of this run", 20)
while True:
    channel.exchange(b"weights")
"""


def test_a_changed_message_ends_all_processes_with_one_line():
    port = free_port()
    greeting = 40 + 40
    proxy = Proxy(port, lambda number, byte: byte ^ (number == greeting + 999))
    processes = [started_python("-c", MEMBER, one, i) for i, one in enumerate((port, proxy.port))]
    messages = []
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert errors.count("\n") == 1
        assert process.returncode == 2
        messages.append(errors)
    assert messages[0].startswith("kformer: A message of process 1 was damaged, or is not its own.")
    assert messages[1].startswith("kformer: ")
    proxy.join()


def test_a_message_of_another_process_is_printed_as_one_line():
    assert printable(b"a\r\n b\x1b[31m\xff") == "a b?[31m\N{REPLACEMENT CHARACTER}"
    assert len(printable(b"a" * 10**6)) < 10_000


@pytest.mark.parametrize("value", [None, "", " ", "x" * 15, " " * 99])
def test_a_missing_or_short_secret_is_refused(monkeypatch, value):
    monkeypatch.delenv("KFORMER_RUN_SECRET", raising=False)
    if value is not None:
        monkeypatch.setenv("KFORMER_RUN_SECRET", value)
    number = len((value or "").strip())
    with pytest.raises(ValueError, match=f"KFORMER_RUN_SECRET.*Received: {number} bytes"):
        run_secret()


def test_the_secret_may_be_any_bytes_and_end_with_a_line_break(monkeypatch):
    monkeypatch.setenv("KFORMER_RUN_SECRET", os.fsdecode(b"\xff" * 16 + b"\n"))
    assert run_secret() == b"\xff" * 16
