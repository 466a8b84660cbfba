"""HTTP/1.1 with a limit of the time in which a client sends a request."""

from asyncio import Transport

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
            super().connection_made(transport)
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
