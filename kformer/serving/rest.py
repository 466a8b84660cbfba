"""REST, as TensorFlow Serving speaks it: JSON over HTTP."""

import json
import urllib.request
from operator import itemgetter

import urllib3

from kformer.serving.address import Address, Model
from kformer.serving.answers import NO_SIGNATURE, Signature, Tensor, VersionStatus
from kformer.serving.deadline import Deadline
from kformer.serving.errors import ServerError

_CONNECTIONS = 64  # Kept open at most; more are used if there are more threads.
_READ = 65536  # Bytes of an answer at a time.
_SHOWN = 300  # Characters of an answer that is not understood.
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
        ca_file: Certificates to trust, else those of the system.
    """

    def __init__(
        self, address: Address, model: Model, headers: dict[str, str], ca_file: str | None
    ):
        self._url, self._model = address.url, model
        self._headers = {"Content-Type": "application/json", **headers}
        options = {"maxsize": _CONNECTIONS, "ca_certs": ca_file, "retries": False}
        proxy = urllib.request.getproxies().get(address.scheme)
        if proxy and not urllib.request.proxy_bypass(address.host):
            self._pool = urllib3.ProxyManager(proxy, **options)
        else:
            self._pool = urllib3.PoolManager(**options)

    def predict(self, signature: str, inputs: dict[str, list], deadline: Deadline) -> dict:
        """Returns the outputs by name, as nested lists.

        Args:
            signature: Its name.
            inputs: Lists by name, an entry for each text.
            deadline: When the answer must be there.
        """
        body = {"signature_name": signature, "inputs": inputs}
        path = f"{self._model.path}:predict"
        outputs = self._ask("POST", path, deadline, body, read=itemgetter("outputs"))
        # A server leaves out the name of what is alone; no signature of ours is so.
        return outputs if isinstance(outputs, dict) else {"a single output": outputs}

    def status(self, deadline: Deadline) -> list[VersionStatus]:
        """Returns how each version of the model is."""
        return self._ask("GET", self._model.path, deadline, read=_versions)

    def metadata(self, deadline: Deadline) -> dict[str, Signature]:
        """Returns the signatures of the model by name."""
        return self._ask("GET", f"{self._model.path}/metadata", deadline, read=_signatures)

    def close(self):
        """Closes all connections."""
        self._pool.clear()

    def _ask(self, method, path, deadline, body=None, *, read):
        """Returns what `read` makes of the JSON that the server answers with."""
        status, headers, content = self._exchange(method, path, deadline, body)
        try:
            answer = json.loads(content)
            if status == 200:
                return read(answer)
            message = str(answer["error"])
        except (ValueError, KeyError, TypeError, AttributeError):
            message = _beginning(content)
        if status != 200:
            raise ServerError(self._url + path, status, message, _seconds(headers))
        raise ValueError(
            "The URL must be that of TensorFlow Serving's REST port. "
            f"Received: {self._url}{path}, which answered {message!r}."
        )

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
            return response.status, response.headers, _read(response, deadline)
        except urllib3.exceptions.HTTPError as error:
            connecting = isinstance(error, urllib3.exceptions.NewConnectionError)
            if isinstance(error, urllib3.exceptions.TimeoutError) and not connecting:
                raise deadline.error() from error
            raise _broken(url, error) from error


def _read(response, deadline):
    """The bytes of an answer, however slowly they come."""
    parts = []
    try:
        while part := response.read1(_READ):
            parts.append(part)
            deadline.left()
    except BaseException:
        response.close()  # What is left of it must not be the answer to another request.
        raise
    response.release_conn()
    return b"".join(parts)


def _broken(url, error):
    """What a library's error becomes: ConnectionError where another attempt is worthwhile."""
    lasting = isinstance(error, _LASTING)
    return (OSError if lasting else ConnectionError)(
        f"The server must be reachable. Received: url={url!r}: {error.__cause__ or error}."
    )


def _seconds(headers):
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def _beginning(content):
    text = " ".join(content.decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _versions(answer):
    return [
        VersionStatus(int(one["version"]), one["state"], one["status"].get("error_message", ""))
        for one in answer["model_version_status"]
    ]


def _signatures(answer):
    signatures = answer["metadata"]["signature_def"]["signature_def"]
    return {
        name: Signature(_tensors(one.get("inputs", {})), _tensors(one.get("outputs", {})))
        for name, one in signatures.items()
        if not name.startswith(NO_SIGNATURE)
    }


def _tensors(infos):
    return {
        name: Tensor(
            info["dtype"],
            tuple(int(one["size"]) for one in info.get("tensor_shape", {}).get("dim", [])),
        )
        for name, info in infos.items()
    }
