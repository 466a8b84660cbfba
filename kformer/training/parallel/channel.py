"""Messages between the processes of one run, over TCP; process 0 is in the middle.

The connections also show when a process or its machine has died: then all others end at once.
"""

import contextlib
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable

from kformer.training.parallel.peer_connection import (
    CONTENT,
    END,
    FAILURE,
    MAX_FAILURE,
    RELAYED,
    Forged,
    printable,
)
from kformer.training.parallel.reception import SILENCE, accept, connect

_LAST = 5  # Seconds for a process to send its failure to the others before it ends.


class Channel:
    """Connects the processes of a run; every process must make one.

    Args:
        host, port: Where process 0 listens.
        processes: Their number.
        process: The number of this one, from 0.
        secret: The secret of the run, the same for all.
        seconds: How long to wait for the others.

    Attributes:
        at_loss: Functions to call before this process ends because another one died.
        on_relayed: Function of a process and of bytes that it relays; called in a thread.

    Raises:
        ConnectionError: A process has died before all had come.
        TimeoutError: A process did not come; the message contains its number.
        ValueError: Process 0 cannot listen at this address, or has another secret; or two processes
            have one number.
    """

    def __init__(
        self,
        host: str,
        port: int,
        processes: int,
        process: int,
        secret: bytes,
        seconds: float = 300,
    ):
        self.processes, self.process = processes, process
        self.at_loss: list[Callable[[], None]] = []
        self.on_relayed: Callable[[int, bytes], None] = lambda process, content: None
        self._received: dict[int, queue.Queue] = {}
        self._ended, self._ending = threading.Event(), threading.Lock()
        if process == 0:
            self._connections = accept(host, port, processes, secret, seconds)
        else:
            self._connections = {0: connect(host, port, processes, process, secret, seconds)}
        for peer, connection in self._connections.items():
            _set_options(connection.socket)
            self._received[peer] = queue.Queue()
        for peer, connection in self._connections.items():
            threading.Thread(target=self._listen, args=(peer, connection), daemon=True).start()

    def exchange(self, content: bytes) -> list[bytes]:
        """Returns the contents of all processes, in their order; each must call this."""
        if self.process:
            self._connections[0].send(CONTENT, content)
            return [self._next(0) for _ in range(self.processes)]
        contents = [content, *(self._next(peer) for peer in range(1, self.processes))]
        for connection in self._connections.values():
            for message in contents:
                connection.send(CONTENT, message)
        return contents

    def _next(self, peer):
        content = self._received[peer].get()
        if content is None:
            raise ConnectionError(f"Process {peer} of this run has ended before this one.")
        return content

    def relay(self, process: int, content: bytes):
        """Sends bytes to `on_relayed` of process 0, or of another process from process 0."""
        self._connections[process].send(RELAYED, content)

    def close(self, failure: str = ""):
        """Ends the connections; with a `failure`, the other processes report it and end."""
        self._ended.set()
        kind, content = (FAILURE, failure.encode()[:MAX_FAILURE]) if failure else (END, b"")
        for connection in self._connections.values():
            with contextlib.suppress(OSError):  # The other one has ended, too.
                connection.send(kind, content)
                connection.socket.shutdown(socket.SHUT_WR)

    def _listen(self, peer, connection):
        """Reads messages until the peer ends; runs in a thread of its own."""
        try:
            while (message := connection.receive())[0] in (CONTENT, RELAYED):
                if message[0] == CONTENT:
                    self._received[peer].put(message[1])
                else:
                    self.on_relayed(peer, message[1])
            if message[0] == FAILURE:
                self._give_up(printable(message[1]))
        except (OSError, EOFError):
            self._give_up(f"Process {peer} of this run has died, or its machine cannot be reached.")
        except Forged:
            self._give_up(f"A message of process {peer} was damaged, or is not its own.")
        except Exception as error:  # Otherwise the main thread would wait forever.
            self._give_up(f"The connection to process {peer} has failed: {error!r}.")
        self._received[peer].put(None)
        connection.socket.close()

    def _give_up(self, reason):
        """Ends this process with one line: its main thread may wait for the other one forever."""
        with self._ending:  # The first of several reasons counts.
            if self._ended.is_set():
                return
            self._ended.set()
        try:
            print(
                f"kformer: {reason} Start the same command in all processes to resume.",
                file=sys.stderr,
                flush=True,
            )
            telling = threading.Thread(target=self.close, args=(reason,), daemon=True)
            telling.start()
            telling.join(_LAST)  # Others may not read any more.
            for clean_up in self.at_loss:
                clean_up()
        finally:
            os._exit(2)


def _set_options(connection):
    """Has a socket send at once, and notice when the other machine does not answer."""
    connection.settimeout(None)
    connection.setsockopt(
        socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
    )  # Otherwise a meeting takes 44 ms.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": (SILENCE - 10) // 5}
    for name, value in {**options, "TCP_USER_TIMEOUT": SILENCE * 1000}.items():
        if hasattr(socket, name):  # Not all systems have all of them.
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
