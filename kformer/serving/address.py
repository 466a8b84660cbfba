"""The address of a server and the name of a model."""

import ipaddress
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from kformer.arguments import check_integer, check_text
from kformer.kinds import TRANSLATOR

MODEL = TRANSLATOR.name  # On a server; set by `kformer export`.
_SCHEMES = ("http", "https", "grpc", "grpcs")
_ENCRYPTED = ("https", "grpcs")
_SECRET = ("authorization", "proxy-authorization", "cookie", "x-api-key")  # Headers.


class Address(NamedTuple):
    """The parts of a server's URL."""

    scheme: str  # "http", "https", "grpc" or "grpcs"
    host: str  # With the port, if given.
    path: str  # The part before /v1, without a trailing slash.

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"

    @property
    def is_local(self) -> bool:
        """Whether requests stay on this machine."""
        name = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return name == "localhost" or name.endswith(".localhost")


class Model(NamedTuple):
    """A model by its name; the newest version unless `version` or `label` is given."""

    name: str
    version: int | None = None
    label: str | None = None

    @property
    def path(self) -> str:
        """The model's path in the REST API."""
        path = f"/v1/models/{quote(self.name, safe='')}"
        if self.version is not None:
            return f"{path}/versions/{self.version}"
        return path if self.label is None else f"{path}/labels/{quote(self.label, safe='')}"


def read_address(url: str) -> Address:
    """Parses "http://host:8501" or "grpc://host:8500".

    Without a scheme, TensorFlow Serving's usual ports decide: 8501 is REST, 8500 gRPC.
    """
    original = check_text("url", url)
    if "://" not in url:
        usual = {":8501": "http", ":8500": "grpc"}
        url = f"{usual.get(url.partition('/')[0][-5:], '')}://{url}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts = port = None
    if not parts or parts.scheme not in _SCHEMES or not parts.hostname:
        raise ValueError(
            "The server's URL must be as http://host:8501 or grpc://host:8500 (or https, grpcs). "
            f"Received: url={original!r}."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            "The server's URL must have neither user nor query; credentials belong into headers. "
            f"Received: url for {parts.hostname!r}."
        )
    if parts.scheme.startswith("grpc") and (port is None or parts.path.strip("/")):
        raise ValueError(
            f"A gRPC server has a port and no path: grpc://host:8500. Received: url={original!r}."
        )
    return Address(parts.scheme, parts.netloc, parts.path.rstrip("/"))


def check_headers(headers: dict[str, str], address: Address):
    """Raises a ValueError for a header that is malformed, or secret and sent unencrypted."""
    for name, value in headers.items():
        if not (name and f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
            raise ValueError(
                f"A header must be a line of printable ASCII. Received: headers={{{name!r}: ...}}."
            )
        is_secret = name.lower() in _SECRET
        if is_secret and address.scheme not in _ENCRYPTED and not address.is_local:
            raise ValueError(
                "A header that identifies you must be sent encrypted (https, grpcs), or to a "
                "server on this machine. "
                f"Received: url={address.url!r}, headers={{{name!r}: ...}}."
            )


def read_model(name: str, version: int | None, label: str | None) -> Model:
    """Returns a `Model`."""
    if not (name and isinstance(name, str)):
        raise ValueError(f"`model` must be the name of a model. Received: model={name!r}.")
    if version is not None and label is not None:
        raise ValueError(
            "A version is chosen by its number or by its label. "
            f"Received: version={version}, label={label!r}."
        )
    if version is not None:
        check_integer("version", version, least=0)
    if label is not None:
        check_text("label", label)
    return Model(name, version, label)
