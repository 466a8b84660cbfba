"""`Relay`: connections to JAX's coordination service, through the channel of the run.

JAX's service believes whoever reaches its port. Here it has none: it listens at a socket in a
folder of its user alone, in process 0, and so does a relay in each other process. JAX's bytes
go through the channel, whose messages are authenticated.

JAX also ends a process with an abort and lines of its own as soon as its connection to process 0
breaks. Behind the relay it does not notice, and the channel ends the process, with one line.
"""

import contextlib
import queue
import shutil
import socket
import struct
import tempfile
import threading
import time
from pathlib import Path

from kformer.training.parallel.channel import Channel

_NUMBER = struct.Struct("!Q")  # Of a connection, which its process counts.
_PATH = 80  # Characters that the path of a socket may have on every system, and some to spare.


class Relay:
    """Connects JAX in every process to its service in process 0, while the context is open.

    Args:
        channel: The channel of the run; the relay receives its relayed bytes.
        seconds: How long to wait until JAX's service answers.

    Attributes:
        address: For `jax.distributed.initialize`, in the form of gRPC. Process 0 listens there
            itself.
    """

    def __init__(self, channel: Channel, seconds: float = 300):
        self._channel = channel
        self._seconds = seconds
        self._folder = tempfile.mkdtemp(prefix="kformer-")  # Only its user may enter it.
        if len(self._folder) > _PATH:
            shutil.rmtree(self._folder)
            self._folder = tempfile.mkdtemp(prefix="kformer-", dir="/tmp")
        self._path = Path(self._folder, "jax")
        self.address = f"unix:{self._path}"
        self._callers: dict[int, socket.socket] = {}  # Not in process 0.
        self._sent: dict[tuple[int, int], queue.Queue] = {}  # In process 0, by process and number.
        channel.at_loss.append(self.close)
        channel.on_relayed = self._serve if channel.process == 0 else self._answer
        if channel.process:
            self._server = socket.socket(socket.AF_UNIX)
            self._server.bind(str(self._path))
            self._server.listen()
            _in_background(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Deletes the socket; connections end with the channel."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self):
        number = 0
        while True:
            number += 1
            caller, _ = self._server.accept()
            self._callers[number] = caller
            _in_background(self._send, 0, number, caller)

    def _answer(self, process, content):
        """Hands on the service's bytes; the end of its connection is kept from JAX."""
        number, content = _unpack(content)
        with contextlib.suppress(OSError):  # JAX has ended this connection.
            self._callers[number].sendall(content)

    def _serve(self, process, content):
        number, content = _unpack(content)
        if (process, number) not in self._sent:
            self._sent[process, number] = queue.Queue()
            _in_background(self._connect, process, number, self._sent[process, number])
        self._sent[process, number].put(content)

    def _connect(self, process, number, sent):
        """Sends the channel's bytes to JAX's service, until they are empty."""
        with contextlib.suppress(OSError), self._service() as service:
            _in_background(self._send, process, number, service)
            while content := sent.get():
                service.sendall(content)
            service.shutdown(socket.SHUT_RDWR)

    def _service(self):
        deadline = time.monotonic() + self._seconds
        while True:
            service = socket.socket(socket.AF_UNIX)
            try:
                service.connect(str(self._path))
                return service
            except OSError:  # It does not listen yet.
                service.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def _send(self, process, number, source):
        """Sends the bytes of a socket through the channel; no bytes at its end."""
        content = b"."
        while content:
            try:
                content = source.recv(2**16)
            except OSError:
                content = b""
            with contextlib.suppress(OSError):  # Bytes for a dead process are dropped.
                if content or self._channel.process:
                    self._channel.relay(process, _NUMBER.pack(number) + content)


def _unpack(content):
    return *_NUMBER.unpack(content[: _NUMBER.size]), content[_NUMBER.size :]


def _in_background(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()
