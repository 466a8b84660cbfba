"""The greeting of two processes of a run: each proves that it has the secret, and keeps it.

Process 0 listens. Another process sends a nonce, gets one, and answers with its number and a proof;
then process 0 proves itself. A proof is an HMAC of both nonces, which are new for each connection,
so that a recorded greeting proves nothing. Keys for the messages that follow come from it, too.
"""

import hmac
import os
import secrets
import socket
import struct
import time
from typing import NamedTuple

SECRET = "KFORMER_RUN_SECRET"  # The environment variable.
_LEAST = 16  # Bytes of a secret.
_VERSION = b"kformer\x02"  # Another form of the greeting or of the messages gets another one.
_NONCE = _PROOF = 32  # Bytes.
_NUMBERS = struct.Struct("!II")  # Of a process, and of how many.
_HELLO = len(_VERSION) + _NONCE
_ANSWER = _NUMBERS.size + _PROOF


class Keys(NamedTuple):
    """Keys of the messages of one connection.

    Attributes:
        sent, received: The key of each direction, bytes.
    """

    sent: bytes
    received: bytes


class WrongSecret(ValueError):
    """The other end of a connection has not proved that it has the secret."""


def run_secret() -> bytes:
    """Returns the secret that all processes of a run have in their environment."""
    secret = os.fsencode(os.environ.get(SECRET, "")).strip()
    if len(secret) < _LEAST:
        raise ValueError(
            f"Several processes need one secret of at least {_LEAST} bytes in {SECRET}, the same "
            "for all, such as that of `openssl rand -hex 32`. "
            f"Received: {len(secret)} bytes."
        )
    return secret


class Guest:
    """A connection to process 0 that has not proved anything yet.

    Args:
        connection: A socket, which is made non-blocking.
        secret: The secret of the run.
    """

    def __init__(self, connection: socket.socket, secret: bytes):
        self.connection = connection
        self._secret = secret
        self._nonce = secrets.token_bytes(_NONCE)
        self._received = b""
        connection.setblocking(False)

    def advance(self) -> tuple[int, int, Keys] | None:
        """Reads the bytes that have arrived, without waiting.

        Returns:
            The number of the process, the number of processes that it expects, and the keys; None
            while its greeting is not complete.
        """
        is_hello = len(self._received) < _HELLO
        part = self.connection.recv(_HELLO + _ANSWER * (not is_hello) - len(self._received))
        if not part:
            raise EOFError
        self._received += part
        if not _VERSION.startswith(self._received[: len(_VERSION)]):
            raise WrongSecret
        if is_hello and len(self._received) == _HELLO:
            self._send(self._nonce)
        if len(self._received) < _HELLO + _ANSWER:
            return None
        hello, answer = self._received[:_HELLO], self._received[_HELLO:]
        numbers, proof = answer[: _NUMBERS.size], answer[_NUMBERS.size :]
        transcript = hello + self._nonce + numbers
        if not hmac.compare_digest(proof, _mac(self._secret, b"P", transcript)):
            self._send(bytes(_PROOF))  # So that a process with a wrong secret does not wait.
            raise WrongSecret
        self._send(_mac(self._secret, b"0", transcript))
        received, sent = (_mac(self._secret, label, transcript) for label in (b"u", b"d"))
        return *_NUMBERS.unpack(numbers), Keys(sent, received)

    def _send(self, content):
        if self.connection.send(content) < len(content):  # A few bytes never fill a buffer.
            raise EOFError


def greet(
    connection: socket.socket, secret: bytes, process: int, processes: int, deadline: float
) -> Keys:
    """Greets process 0 over `connection`."""
    hello, numbers = _VERSION + secrets.token_bytes(_NONCE), _NUMBERS.pack(process, processes)
    connection.sendall(hello)
    transcript = hello + read(connection, _NONCE, deadline) + numbers
    connection.sendall(numbers + _mac(secret, b"P", transcript))
    if not hmac.compare_digest(read(connection, _PROOF, deadline), _mac(secret, b"0", transcript)):
        raise WrongSecret
    return Keys(*(_mac(secret, label, transcript) for label in (b"u", b"d")))


def read(connection: socket.socket, length: int, deadline: float | None = None) -> bytes:
    """Returns the next `length` bytes of a connection; waits until `deadline`, if there is one."""
    content = bytearray()  # Grows with the received bytes, not by the announced length.
    while len(content) < length:
        if deadline is not None:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
        part = connection.recv(min(length - len(content), 2**20))
        if not part:
            raise EOFError
        content += part
    return bytes(content)


def _mac(secret, label, transcript):
    return hmac.digest(secret, label + transcript, "sha256")
