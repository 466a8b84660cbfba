"""The reception of a run's processes: process 0 listens until all have come.

Whoever else reaches its port is dropped, and can neither hold up nor end the run.
"""

import contextlib
import selectors
import socket
import time
from typing import Any

from kformer.training.parallel.greeting import SECRET, Guest, WrongSecret, greet
from kformer.training.parallel.peer_connection import (
    CONTENT,
    FAILURE,
    Forged,
    PeerConnection,
    printable,
)

SILENCE = 30  # Seconds until a machine that does not answer counts as dead.
_GUESTS = 256  # Connections without a proof, at most; then the oldest one is dropped.


def accept(
    host: str, port: int, processes: int, secret: bytes, seconds: float
) -> dict[int, PeerConnection]:
    """Waits in process 0 for all other processes; returns a connection to each, by its number.

    Raises: The errors of `Channel`.
    """
    deadline = time.monotonic() + seconds
    with _server(host, port) as server:
        reception = _Reception(server, processes, secret)
        try:
            while len(reception.members) < processes - 1:
                if (left := deadline - time.monotonic()) <= 0:
                    raise TimeoutError(reception.in_words(seconds))
                reception.wait(left)
            for member in reception.members.values():
                member.socket.setblocking(True)
                member.send(CONTENT)
        except BaseException as error:
            failure = str(error) if isinstance(error, OSError | ValueError) else ""
            reception.refuse(failure or "Process 0 of this run has ended.")
            raise
        finally:
            reception.close()
    return reception.members


def _server(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_GUESTS)
    except OSError as error:
        raise ValueError(
            "Process 0 must be able to listen at the coordinator's address. "
            f"Received: {host}:{port} ({error.strerror.partition(' (')[0]})."
        ) from error


class _Reception:
    """Greets all connections to process 0 side by side, so that none holds up another.

    Attributes:
        members: `PeerConnection` of each process that has proved that it has the secret.
    """

    def __init__(self, server: Any, processes: Any, secret: Any):
        self.members: dict[int, PeerConnection] = {}
        self._server = server
        self._processes = processes
        self._secret = secret
        self._guests: list[Guest] = []  # The oldest first.
        self._dropped = 0
        self._refused: list[PeerConnection] = []
        self._selector = selectors.DefaultSelector()
        server.setblocking(False)
        self._selector.register(server, selectors.EVENT_READ, self._let_in)

    def wait(self, seconds: float):
        """Goes on with all connections on which something has come, for so many seconds at most."""
        for key, _ in self._selector.select(seconds):
            key.data()

    def _let_in(self):
        try:
            connection, _ = self._server.accept()
        except OSError:  # It has gone already; or too many files are open, which the guests hold.
            self._drop(*self._guests)
            time.sleep(0.01)
            return
        if len(self._guests) == _GUESTS:
            self._drop(self._guests[0])
        guest = Guest(connection, self._secret)
        self._guests.append(guest)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._greet(guest))

    def _greet(self, guest):
        if guest not in self._guests:  # It was dropped meanwhile.
            return
        try:
            greeted = guest.advance()
        except BlockingIOError:
            return
        except (OSError, EOFError, WrongSecret):
            self._drop(guest)
            return
        if greeted:
            self._guests.remove(guest)
            self._selector.unregister(guest.connection)
            process, processes, keys = greeted
            self._seat(process, processes, PeerConnection(guest.connection, keys))

    def _seat(self, process, processes, member):
        if process in self.members or processes != self._processes or not 0 < process < processes:
            self._refused.append(member)
            raise ValueError(
                "Each process must have a number of its own, below their number. Received: process "
                f"{process} of {processes}{', twice' * (process in self.members)}"
                f"{f', instead of {self._processes}' * (processes != self._processes)}."
            )
        self.members[process] = member
        self._selector.register(member.socket, selectors.EVENT_READ, lambda: self._lose(process))

    def _lose(self, process):
        """A process sends nothing before all have come, so it has died."""
        self._refused.append(self.members.pop(process))
        raise ConnectionError(
            f"Process {process} of this run has died, or its machine cannot be reached."
        )

    def _drop(self, *guests):
        for guest in guests:
            self._guests.remove(guest)
            self._selector.unregister(guest.connection)
            guest.connection.close()
            self._dropped += 1

    def in_words(self, seconds: float):
        missing = [str(i) for i in range(1, self._processes) if i not in self.members]
        dropped = f" {self._dropped} connections without the secret of {SECRET} were dropped."
        return (
            f"All processes must come within {seconds:g} s. Missing: {', '.join(missing)}."
            f"{dropped * bool(self._dropped)}"
        )

    def refuse(self, failure: Any):
        """Has all processes that have come end with the message `failure`."""
        for member in (*self.members.values(), *self._refused):
            with contextlib.suppress(OSError), member.socket:
                member.socket.settimeout(1)
                member.send(FAILURE, failure.encode())

    def close(self):
        self._drop(*self._guests)
        self._selector.close()


def connect(
    host: str, port: int, processes: int, process: int, secret: bytes, seconds: float
) -> PeerConnection:
    """Connects to process 0; returns the connection as soon as all processes are connected.

    Raises: The errors of `Channel`.
    """
    connection = _greeted(host, port, processes, process, secret, seconds)
    try:
        kind, content = connection.receive(time.monotonic() + seconds + SILENCE)
    except (OSError, EOFError, Forged):
        kind, content = FAILURE, b"Process 0 of this run has ended."
    if kind == FAILURE:
        connection.socket.close()
        raise TimeoutError(printable(content))
    return connection


def _greeted(host, port, processes, process, secret, seconds):
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=10)
            try:
                if connection.getsockname() == connection.getpeername():
                    raise ConnectionError("a connection to itself")  # While nothing listens there.
                keys = greet(connection, secret, process, processes, deadline)
                return PeerConnection(connection, keys)
            except BaseException:
                connection.close()
                raise
        except WrongSecret:
            raise ValueError(
                f"All processes of a run need the same secret in {SECRET}. Received: another one "
                f"than what listens at {host}:{port}."
            ) from None
        except (OSError, EOFError) as error:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"Process 0 must answer within {seconds:g} s. Received: {host}:{port} "
                    f"({str(error) or 'the connection was closed'})."
                ) from None
            time.sleep(0.2)
