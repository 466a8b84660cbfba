"""A relay: who connects through it does not see that the other end has died."""

import socket
import threading
import time

import pytest

from kformer.training.parallel.relay import relay_to


@pytest.fixture
def address():
    """Where nothing listens yet."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()


@pytest.fixture
def ends(address):
    """Both ends of a connection through a relay."""
    relay = relay_to(*address)
    with socket.create_connection(relay, timeout=20) as caller:
        time.sleep(0.3)  # The other end comes late.
        with socket.create_server(address) as server:
            server.settimeout(20)
            other, _ = server.accept()
        with other:
            other.settimeout(20)
            yield caller, other


def received(connection, length):
    content = b""
    while len(content) < length:
        content += connection.recv(length)
    return content


def test_all_bytes_pass_in_both_directions(ends):
    content = bytes(range(256)) * 2**12
    for sender, receiver in (ends, ends[::-1]):
        sending = threading.Thread(target=sender.sendall, args=(content,))
        sending.start()
        assert received(receiver, len(content)) == content
        sending.join()


def test_the_caller_does_not_see_that_the_other_end_has_died(ends):
    caller, other = ends
    other.close()
    for _ in range(3):
        caller.sendall(b"still there?")
        caller.settimeout(0.2)
        with pytest.raises(TimeoutError):
            caller.recv(1)


def test_the_other_end_sees_that_the_caller_has_ended(ends):
    caller, other = ends
    caller.close()
    assert other.recv(1) == b""


def test_who_waits_in_vain_for_the_other_end_is_let_go(address):
    with socket.create_connection(relay_to(*address, seconds=0.1), timeout=20) as caller:
        assert caller.recv(1) == b""
