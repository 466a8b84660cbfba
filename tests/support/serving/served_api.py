"""Starts `kformer serve` in a process of its own, and sends requests to it."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from typing import Any, NamedTuple


class Response(NamedTuple):
    """The response to a request."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Api(NamedTuple):
    """A running server."""

    url: str
    process: subprocess.Popen

    def connection(self, timeout=30):
        return http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=timeout)

    def ask(self, path, body=None, method=None, **headers) -> Response:
        """Returns the `Response` to a request; a body that is not bytes is sent as JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = self.connection()
        with contextlib.closing(connection):
            connection.request(
                method or ("POST" if body is not None else "GET"), path, body, headers
            )
            response = connection.getresponse()
            return Response(response.status, response.headers, response.read())

    def translate(self, text, **fields):
        """Returns the answer of LibreTranslate's API."""
        return self.ask("/translate", {"q": text, "source": "de", "target": "en", **fields}).json

    def end(self) -> tuple[int, str]:
        """Ends the server by SIGTERM; returns its exit code and its log."""
        self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=30)
        return self.process.returncode, log


@contextlib.contextmanager
def served_api(*arguments, variables=None):
    """Yields an `Api`; `arguments` are those of the command."""
    command = [sys.executable, "-m", "kformer", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(variables or {})},
    )
    try:
        line = process.stdout.readline()
        url = re.search(r"http://[\d.]+:\d+", line)
        assert url, process.communicate()[1]
        yield Api(url[0], process)
    finally:
        process.kill()
        process.communicate()
