"""A relay: JAX in each process reaches its service in process 0, and nobody else does."""

import contextlib
import os
import socket
import stat
import threading
import time
from pathlib import Path

import pytest

from kformer.training.parallel.relay import Relay
from support.training.channels import connected


def path_of(relay):
    return Path(relay.address.removeprefix("unix:"))


def unix_socket():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    return connection


@pytest.fixture
def relays():
    with connected(3) as channels, contextlib.ExitStack() as opened:
        yield [opened.enter_context(Relay(channel)) for channel in channels]


@pytest.fixture
def ends(relays):
    """Both ends of connections of processes 1 and 2 to the service in process 0."""
    with contextlib.ExitStack() as opened:
        callers = [opened.enter_context(unix_socket()) for _ in range(2)]
        for caller, relay in zip(callers, relays[1:], strict=True):
            caller.connect(str(path_of(relay)))
            caller.sendall(b"%d" % callers.index(caller))
        time.sleep(0.1)  # The service comes late.
        server = opened.enter_context(unix_socket())
        server.bind(str(path_of(relays[0])))
        server.listen()
        services = [opened.enter_context(server.accept()[0]) for _ in range(2)]
        for service in services:
            service.settimeout(20)
        services.sort(key=lambda service: service.recv(1))
        yield [*zip(callers, services, strict=True)]


def received(connection, length):
    content = b""
    while len(content) < length:
        content += connection.recv(length)
    return content


def test_all_bytes_pass_in_both_directions(ends):
    for number, pair in enumerate(ends):
        content = bytes([number]) + bytes(range(256)) * 2**12
        for sender, receiver in (pair, pair[::-1]):
            sending = threading.Thread(target=sender.sendall, args=(content,))
            sending.start()
            assert received(receiver, len(content)) == content
            sending.join()


def test_the_caller_does_not_see_that_the_other_end_has_died(ends):
    caller, service = ends[0]
    service.close()
    for _ in range(3):
        caller.sendall(b"still there?")
        caller.settimeout(0.2)
        with pytest.raises(TimeoutError):
            caller.recv(1)


def test_the_other_end_sees_that_the_caller_has_ended(ends):
    caller, service = ends[0]
    caller.close()
    assert service.recv(1) == b""


def test_only_their_user_can_reach_the_sockets_which_are_deleted(relays):
    for relay in relays:
        folder = path_of(relay).parent
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU
        assert folder.stat().st_uid == os.getuid()
        relay.close()
        assert not folder.exists()


def test_the_path_of_a_socket_is_short_even_if_the_temporary_folder_has_a_long_one(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("long" * 20)))
    (tmp_path / ("long" * 20)).mkdir()
    with connected(2) as channels, Relay(channels[1]) as relay:
        assert path_of(relay).is_socket()
