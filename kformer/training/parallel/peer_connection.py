"""`PeerConnection`: messages between two processes that nobody else can send, change or repeat.

A message is its kind (1 byte), the length of its content (4 bytes), the content, and an HMAC of the
three and of the number of the message, with the key of its direction.
"""

import hmac
import socket
import struct
import threading

from kformer.training.parallel.greeting import Keys, read

CONTENT, FAILURE, END, RELAYED = b"c", b"f", b"e", b"r"
MAX_LENGTH = 2**24  # Bytes of a content.
MAX_FAILURE = 9999  # Bytes of a failure.
_HEAD = struct.Struct("!cI")
_COUNTER = struct.Struct("!Q")
_MAC = 32


class Forged(ValueError):
    """A message is not as the other process sent it."""


class PeerConnection:
    """Sends and receives messages over a socket; any thread may send.

    Args:
        connection: The socket.
        keys: `Keys` of the greeting.
    """

    def __init__(self, connection: socket.socket, keys: Keys):
        self.socket = connection
        self._keys = keys
        self._lock = threading.Lock()
        self._sent = self._received = 0

    def send(self, kind: bytes, content: bytes = b""):
        """Sends a message."""
        if len(content) > MAX_LENGTH:
            raise ValueError(
                f"A message between processes has at most {MAX_LENGTH:,} bytes. "
                f"Received: {len(content):,}."
            )
        message = _HEAD.pack(kind, len(content)) + content
        with self._lock:
            self.socket.sendall(message + _mac(self._keys.sent, self._sent, message))
            self._sent += 1

    def receive(self, deadline: float | None = None) -> tuple[bytes, bytes]:
        """Returns kind and content of the next message; one thread at a time may call it.

        Args:
            deadline: When to give up, by `time.monotonic`; None to wait forever.
        """
        head = read(self.socket, _HEAD.size, deadline)
        kind, length = _HEAD.unpack(head)
        if length > MAX_LENGTH:
            raise Forged
        content = read(self.socket, length, deadline)
        mac = read(self.socket, _MAC, deadline)
        if not hmac.compare_digest(mac, _mac(self._keys.received, self._received, head + content)):
            raise Forged
        self._received += 1
        return kind, content


def printable(content: bytes) -> str:
    """Returns the message of another process as one line that is safe for a terminal."""
    text = " ".join(content[:MAX_FAILURE].decode(errors="replace").split())
    return "".join(character if character.isprintable() else "?" for character in text)


def _mac(key, number, message):
    return hmac.digest(key, _COUNTER.pack(number) + message, "sha256")
