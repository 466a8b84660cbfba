"""Requests to a server from many connections, and how long each took."""

import asyncio
import itertools
import json
import time
from typing import NamedTuple

MODEL = "translator"  # On the server.
PATH = f"/v1/models/{MODEL}:predict"
_OK = b"HTTP/1.1 200"
_LENGTH = b"content-length:"


class LoadResult(NamedTuple):
    """The requests of a time."""

    latencies: list[float]  # Seconds of each request that succeeded.
    failed: int
    seconds: float  # From the first request to the last answer.

    @property
    def speed(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds


def percentile(values: list[float], share: float) -> float:
    """Returns the smallest value that at least `share` percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * share // 100) - 1)]


class Load:
    """Sends requests in turn, again and again, over connections that stay open.

    Args:
        port: Of a server on this machine.
        requests: Of `http_request`.
        connections: Number of connections, each with one request at a time.
    """

    def __init__(self, port: int, requests: list[bytes], connections: int):
        self._port, self._connections = port, connections
        self._requests = itertools.cycle(requests)

    async def run(self, seconds: float = 3600, requests: int | None = None) -> LoadResult:
        """Sends requests for a time, or a number of them; waits for all answers."""
        latencies: list[float] = []
        numbers = itertools.count() if requests is None else iter(range(requests))
        began = time.perf_counter()
        workers = [
            self._connection(began + seconds, numbers, latencies) for _ in range(self._connections)
        ]
        failed = sum(await asyncio.gather(*workers))
        return LoadResult(latencies, failed, time.perf_counter() - began)

    async def _connection(self, end, numbers, latencies):
        """Adds the seconds of each request to `latencies`; returns how many failed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        failed = 0
        try:
            while (began := time.perf_counter()) < end and next(numbers, None) is not None:
                writer.write(next(self._requests))
                if await _succeeded(reader):
                    latencies.append(time.perf_counter() - began)
                else:
                    failed += 1
        finally:
            writer.close()
        return failed


def prediction_request(line: str) -> bytes:
    """Returns the request of TensorFlow Serving for a sentence."""
    return http_request(PATH, {"instances": [line]})


def http_request(path: str, fields: dict) -> bytes:
    """Returns a request with JSON that keeps its connection open."""
    body = json.dumps(fields).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _succeeded(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line[len(_LENGTH) :])
        for line in head.lower().split(b"\r\n")
        if line.startswith(_LENGTH)
    )
    await reader.readexactly(length)
    return head.startswith(_OK)
