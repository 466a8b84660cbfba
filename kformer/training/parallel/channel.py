"""Messages between the processes of one run, over TCP; process 0 is in the middle.

The connections also show when a process or its machine has died: then all others end at once.
A message is its kind (1 byte), its length (8 bytes) and its content.
"""

import contextlib
import os
import queue
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable

_GREETING = b"kformer"
_HEAD = struct.Struct("!cQ")
_CONTENT, _FAILURE, _END = b"c", b"f", b"e"
_SILENCE = 30  # Seconds until a machine that does not answer counts as dead.


class Channel:
    """Connects the processes of a run; every process must make one.

    Args:
        host, port: Where process 0 listens.
        processes: Their number.
        process: The number of this one, from 0.
        seconds: How long to wait for the others.

    Attributes:
        on_loss: Called before this process ends because another one died.

    Raises:
        TimeoutError: A process did not come; the message says which.
        ValueError: Process 0 cannot listen at this address; or two processes have one number.
    """

    def __init__(self, host: str, port: int, processes: int, process: int, seconds: float = 300):
        self.processes, self.process = processes, process
        self.on_loss: Callable[[], None] = lambda: None
        self._received = {}
        self._ended = threading.Event()
        deadline = time.monotonic() + seconds
        if process == 0:
            self._connections = _accept(host, port, processes, deadline, seconds)
        else:
            self._connections = {0: _connect(host, port, process, deadline, seconds)}
        for peer, connection in self._connections.items():
            _notice_silence(connection)
            self._received[peer] = queue.Queue()
            threading.Thread(target=self._listen, args=(peer, connection), daemon=True).start()

    def exchange(self, content: bytes) -> list[bytes]:
        """Returns the contents of all processes, in their order; each must call this."""
        if self.process:
            _send(self._connections[0], _CONTENT, content)
            return [self._received[0].get() for _ in range(self.processes)]
        others = [self._received[peer].get() for peer in range(1, self.processes)]
        contents = [content, *others]
        for connection in self._connections.values():
            for one in contents:
                _send(connection, _CONTENT, one)
        return contents

    def close(self, failure: str = ""):
        """Ends the connections; with a `failure`, the other processes report it and end."""
        self._ended.set()
        kind, content = (_FAILURE, failure.encode()) if failure else (_END, b"")
        for connection in self._connections.values():
            with contextlib.suppress(OSError):  # The other one has ended, too.
                _send(connection, kind, content)
                connection.shutdown(socket.SHUT_WR)

    def _listen(self, peer, connection):
        """Reads messages until the peer ends; runs in a thread of its own."""
        try:
            with connection:
                while (message := _receive(connection))[0] == _CONTENT:
                    self._received[peer].put(message[1])
        except (OSError, EOFError):
            self._give_up(f"Process {peer} of this run has died, or its machine cannot be reached.")
            return
        kind, content = message
        if kind == _FAILURE:
            self._give_up(content.decode())

    def _give_up(self, reason):
        """Ends this process with one line: its main thread may wait for the other one forever."""
        if self._ended.is_set():
            return
        self.close(reason)
        self.on_loss()
        print(
            f"kformer: {reason} Start the same command in all processes to resume.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(2)


def _accept(host, port, processes, deadline, seconds):
    """Waits for all other processes; returns a connection to each, by its number."""
    try:
        server = socket.create_server((host, port), backlog=processes)
    except OSError as error:
        raise ValueError(
            "Process 0 must be able to listen at the coordinator's address. "
            f"Received: {host}:{port} ({os.strerror(error.errno)})."
        ) from error
    with server:
        found = {}
        while len(found) < processes - 1:
            server.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                missing = ", ".join(str(i) for i in range(1, processes) if i not in found)
                failure = f"All processes must come within {seconds:g} s. Missing: {missing}."
                _refuse(found, failure)
                raise TimeoutError(failure) from None
            process = _greeted(connection)
            if process is None:
                connection.close()  # Something else that looked for open ports.
                continue
            if process in found or not 0 < process < processes:
                failure = (
                    "Each process must have a number of its own, below their number. "
                    f"Received: process {process} of {processes}{', twice' * (process in found)}."
                )
                _refuse({**found, None: connection}, failure)
                raise ValueError(failure)
            found[process] = connection
    for connection in found.values():
        _send(connection, _CONTENT, b"")
    return found


def _greeted(connection):
    """Returns the number of the process that connects; None if it is not one of ours."""
    connection.settimeout(10)
    with contextlib.suppress(OSError, EOFError):
        if _read(connection, len(_GREETING)) == _GREETING:
            number = int.from_bytes(_read(connection, 4))
            connection.settimeout(None)
            return number
    return None


def _refuse(connections, failure):
    for connection in connections.values():
        with contextlib.suppress(OSError), connection:
            _send(connection, _FAILURE, failure.encode())


def _connect(host, port, process, deadline, seconds):
    """Connects to process 0; returns the connection as soon as all processes are connected."""
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=10)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"Process 0 must answer within {seconds:g} s. Received: {host}:{port} "
                    f"({error})."
                ) from None
            time.sleep(0.2)
    connection.settimeout(seconds + _SILENCE)
    try:
        connection.sendall(_GREETING + process.to_bytes(4))
        kind, content = _receive(connection)
    except (OSError, EOFError):
        kind, content = _FAILURE, b"Process 0 of this run has ended."
    if kind == _FAILURE:
        connection.close()
        raise TimeoutError(content.decode())
    connection.settimeout(None)
    return connection


def _notice_silence(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": (_SILENCE - 10) // 5}
    for name, value in {**options, "TCP_USER_TIMEOUT": _SILENCE * 1000}.items():
        if hasattr(socket, name):  # Not all systems have all of them.
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _send(connection, kind, content):
    connection.sendall(_HEAD.pack(kind, len(content)) + content)


def _receive(connection):
    kind, length = _HEAD.unpack(_read(connection, _HEAD.size))
    return kind, _read(connection, length)


def _read(connection, length):
    content = bytearray()
    while len(content) < length:
        part = connection.recv(min(length - len(content), 2**20))
        if not part:
            raise EOFError
        content += part
    return bytes(content)
