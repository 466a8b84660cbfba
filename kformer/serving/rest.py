"""The REST API of TensorFlow Serving: JSON over HTTP."""

import json
import re
import urllib.request
from operator import itemgetter
from typing import Any

import urllib3

from kformer.json_files import parse_json
from kformer.serving.address import Address, Model
from kformer.serving.answers import NO_SIGNATURE, Signature, Tensor, VersionStatus
from kformer.serving.deadline import Deadline
from kformer.serving.errors import (
    MAX_ANSWER,
    TOO_LARGE,
    MalformedAnswer,
    ServerError,
    printable,
)

_CONNECTIONS = 64  # Kept open at most; more threads open more.
_READ = 65536  # Bytes of an answer read at a time.
_SHOWN = 300  # Characters shown of an answer that cannot be parsed.
_OK = 200
_LASTING = (
    urllib3.exceptions.SSLError,
    urllib3.exceptions.NameResolutionError,
    urllib3.exceptions.LocationValueError,
)


class Rest:
    """Sends requests to a server's REST port, from any number of threads.

    Args:
        address: `Address` with the scheme "http" or "https".
        model: `Model`.
        headers: Further headers of each request, by name.
        ca_file: File of trusted certificates; None for the system's.
    """

    def __init__(
        self, address: Address, model: Model, headers: dict[str, str], ca_file: str | None
    ):
        self._url, self._model = address.url, model
        self._headers = {"Content-Type": "application/json", **headers}
        options: dict[str, Any] = {"maxsize": _CONNECTIONS, "ca_certs": ca_file, "retries": False}
        self._pool: urllib3.PoolManager
        proxy = urllib.request.getproxies().get(address.scheme)
        if proxy and not (address.is_local or urllib.request.proxy_bypass(address.host)):
            self._pool = urllib3.ProxyManager(proxy, **options)
        else:
            self._pool = urllib3.PoolManager(**options)

    def predict(self, signature: str, inputs: dict[str, list], deadline: Deadline) -> dict:
        """Returns the outputs by name, as nested lists."""
        body = {"signature_name": signature, "inputs": inputs}
        path = f"{self._model.path}:predict"
        outputs = self._ask("POST", path, deadline, body, read=itemgetter("outputs"))
        # A server omits the name of a single output, which no signature of kformer has.
        return outputs if isinstance(outputs, dict) else {"a single output": outputs}

    def status(self, deadline: Deadline) -> list[VersionStatus]:
        """Returns the state of each version of the model."""
        return self._ask("GET", self._model.path, deadline, read=_versions)

    def metadata(self, deadline: Deadline) -> dict[str, Signature]:
        """Returns the signatures of the model by name."""
        return self._ask("GET", f"{self._model.path}/metadata", deadline, read=_signatures)

    def close(self):
        """Closes all connections."""
        self._pool.clear()

    def malformed(self, message: str) -> ServerError:
        """Returns the error for a malformed answer to `predict`."""
        return ServerError(f"{self._url}{self._model.path}:predict", _OK, message)

    def _ask(self, method, path, deadline, body=None, *, read):
        """Returns `read` of the server's JSON answer."""
        status, headers, content = self._exchange(method, path, deadline, body)
        url = self._url + path
        try:
            answer = parse_json(content, object)
            if status == _OK:
                return read(answer)
            message = answer["error"]
            if not isinstance(message, str):
                message = _beginning(content)
        except MalformedAnswer as error:
            raise ServerError(url, status, str(error)) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            message = _beginning(content)
            if status == _OK:
                raise ServerError(
                    url,
                    status,
                    "The URL must belong to TensorFlow Serving's REST port, which answers JSON. "
                    f"Received: {message!r} ({type(error).__name__}).",
                ) from error
        raise ServerError(url, status, message, _seconds(headers))

    def _exchange(self, method, path, deadline, body):
        url = self._url + path
        try:
            response = self._pool.request(
                method,
                url,
                body=None if body is None else json.dumps(body).encode(),
                headers=self._headers,
                timeout=urllib3.Timeout(total=deadline.left()),
                redirect=False,
                preload_content=False,
            )
            content = _read(response, deadline)
            return response.status, response.headers, content
        except MalformedAnswer as error:
            raise ServerError(url, response.status, str(error)) from error
        except urllib3.exceptions.HTTPError as error:
            connecting = isinstance(error, urllib3.exceptions.NewConnectionError)
            if isinstance(error, urllib3.exceptions.TimeoutError) and not connecting:
                raise deadline.error() from error
            raise _broken(url, error) from error


def _read(response, deadline):
    """Reads the bytes of an answer, within the deadline and up to a limit."""
    parts, size = [], 0
    try:
        while part := response.read1(_READ):
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                raise MalformedAnswer(TOO_LARGE)
            deadline.left()
    except urllib3.exceptions.DecodeError as error:
        response.close()
        raise MalformedAnswer(
            "The answer's content must be compressed as its header says. "
            f"Received: {error.__cause__ or error}."
        ) from error
    except BaseException:
        response.close()  # The rest must not be read as the answer to another request.
        raise
    response.release_conn()
    return b"".join(parts)


def _broken(url, error):
    """Returns the error for a library's error: ConnectionError if a retry may help."""
    lasting = isinstance(error, _LASTING)
    message = f"The server must be reachable. Received: url={url!r}: {error.__cause__ or error}."
    return (OSError if lasting else ConnectionError)(printable(message))


def _seconds(headers):
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def _beginning(content):
    text = " ".join(content.decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _versions(answer):
    return [
        VersionStatus(
            _integer("version", version["version"]),
            _text("state", version["state"]),
            _text("error_message", version["status"].get("error_message", "")),
        )
        for version in answer["model_version_status"]
    ]


def _signatures(answer):
    signatures = answer["metadata"]["signature_def"]["signature_def"]
    return {
        name: Signature(
            _tensors(signature.get("inputs", {})), _tensors(signature.get("outputs", {}))
        )
        for name, signature in signatures.items()
        if not name.startswith(NO_SIGNATURE)
    }


def _tensors(infos):
    return {
        name: Tensor(
            _text("dtype", info["dtype"]),
            tuple(
                _integer("size", dim["size"]) for dim in info.get("tensor_shape", {}).get("dim", [])
            ),
        )
        for name, info in infos.items()
    }


def _text(name, value):
    if not isinstance(value, str):
        raise MalformedAnswer.of(name, "a string", value)
    return value


def _integer(name, value):
    """Reads an integer; protocol buffers write integers of 64 bits as strings."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedAnswer.of(name, "an integer", value)
    return value
