"""HTTP/1.1: a client sends a request in a limited time, and gets an answer in one packet."""

from asyncio import AbstractEventLoop, Transport
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_with_deadline(seconds: float) -> type[H11Protocol]:
    """Returns the class of connections that close if no whole head of a request comes in time.

    The time of a body is bounded by `kformer.server.request_bodies.read_body`. uvicorn itself waits
    for ever, so that silent connections would take all places.

    Args:
        seconds: From the beginning of a connection, or from the end of its last answer.
    """

    class ImpatientProtocol(H11Protocol):
        """A connection."""

        def connection_made(self, transport: Transport):  # type: ignore[override]  # As uvicorn's.
            super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
            self._answered = None  # The last request that was seen complete.
            self.loop.call_later(seconds, self._check)

        def _check(self):
            if self.transport.is_closing():
                return
            cycle = self.cycle
            if cycle is None or (cycle.response_complete and cycle is self._answered):
                self.transport.close()
                return
            self._answered = cycle if cycle.response_complete else None
            self.loop.call_later(seconds, self._check)

    return ImpatientProtocol


class JoinedWrites:
    """A transport that joins the writes of one step of the event loop to one packet.

    uvicorn writes the head and the body of an answer apart. Sent apart, each costs a system call,
    after which this thread waits for Python's lock, and wakes the client.

    Args:
        transport: Of a connection; it does everything but write.
        loop: The event loop.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop):
        self._transport, self._loop = transport, loop
        self._waiting: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes):
        """Sends data at the end of this step."""
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting.append(data)

    def close(self):
        """Closes the connection after what was written."""
        self._send()
        self._transport.close()

    def _send(self):
        data = b"".join(self._waiting)
        self._waiting.clear()
        if data:
            self._transport.write(data)
