"""`relay_to`: connections to another machine that never seem broken."""

import contextlib
import socket
import threading
import time


def relay_to(host: str, port: int, seconds: float = 300) -> tuple[str, int]:
    """Starts a relay in this process: who connects to it is connected to `host` and `port`.

    JAX ends a process with an abort and lines of its own as soon as its connection to process 0
    breaks. Behind this relay it does not see that, and the channel ends the process instead, with
    one line.

    Args:
        host, port: Address of the other machine.
        seconds: How long to wait until something answers there.

    Returns:
        Host and port of the relay.
    """
    server = socket.create_server(("127.0.0.1", 0))
    _in_background(_accept, server, (host, port), seconds)
    return server.getsockname()


def _in_background(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def _accept(server, address, seconds):
    while True:
        caller, _ = server.accept()
        _in_background(_relay, caller, address, seconds)


def _relay(caller, address, seconds):
    with caller:
        try:
            other = _connected(address, time.monotonic() + seconds)
        except OSError:
            return
        with other:
            _in_background(_copy, other, caller)
            _copy(caller, other)
            with contextlib.suppress(OSError):  # It has ended first.
                other.shutdown(socket.SHUT_RDWR)


def _connected(address, deadline):
    while True:
        try:
            connection = socket.create_connection(address, timeout=10)
            connection.settimeout(None)
            return connection
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _copy(source, sink):
    """Copies what comes from one connection to the other, until the first one ends."""
    with contextlib.suppress(OSError):
        while content := source.recv(2**16):
            with contextlib.suppress(OSError):  # What goes to a dead process is lost in silence.
                sink.sendall(content)
