"""Downloads files over HTTP: they go on where they broke off, and are checked by a digest."""

import contextlib
import contextvars
import hashlib
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from kformer.json_files import parse_json

_CHUNK = 2**18
_TIMEOUT = urllib3.Timeout(connect=15, read=60)
_RETRIES = urllib3.Retry(total=4, redirect=8, backoff_factor=0.5, status_forcelist=(429, 502, 503))
_TRIES = 5  # Connections that break without a new byte.
_MOST_OF_LIST = 2**26  # Bytes of a list of models.
_UNFINISHED = ".part"
_NEEDS = "Models, and lists of them, are downloaded, which needs the network."


def _write_to_stderr(text: str, end: str = "\n"):
    print(text, end=end, file=sys.stderr, flush=True)


_teller = contextvars.ContextVar[Callable]("_teller", default=_write_to_stderr)


def tell(text: str, end: str = "\n"):
    """Writes what is being done to stderr, or where `told_by` says."""
    _teller.get()(text, end)


@contextlib.contextmanager
def told_by(write: Callable[[str, str], object]):
    """Has `write` write the texts of `tell` in the `with` block."""
    token = _teller.set(write)
    try:
        yield
    finally:
        _teller.reset(token)


def fetch_json(url: str, schema: object, what: str) -> object:
    """Returns the JSON at an address, checked by a schema of `json_files`.

    Raises:
        ConnectionError: There is no answer, or it is an error.
        ValueError: The content is something else.
    """
    with _opened(url, {}) as response:
        if response.status != 200:
            raise _refused(url, response.status)
        content = response.read(_MOST_OF_LIST + 1)
    try:
        if len(content) > _MOST_OF_LIST:
            raise ValueError(f"more than {_MOST_OF_LIST:,} bytes")
        return parse_json(content, schema)
    except ValueError as error:
        raise ValueError(
            f"{what} must be JSON of its format. Received: {url} ({error})."
        ) from error


def download(
    url: str, path: Path, what: str, sha256: str | None = None, size: int | None = None
) -> str:
    """Writes the file at an address to `path`, and returns its SHA-256 in hexadecimal.

    What was downloaded stays beside `path` if the connection breaks, and the next call continues.
    On stderr there is a line that says how far it is.

    Args:
        what: The file in words, for stderr.
        sha256: The digest that it must have, if it is known.
        size: Its number of bytes, if it is known.

    Raises:
        ConnectionError: There is no answer, or it is an error.
        FileNotFoundError: There is no such file on the server.
        OSError: It cannot be written; nothing of it stays then.
        ValueError: It has another digest or size; nothing of it stays then.
    """
    part = path.with_name(f"{path.name}.{(sha256 or 'new')[:16]}{_UNFINISHED}")
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f"{path.name}.*{_UNFINISHED}"):
        if old != part:  # Of another version.
            old.unlink()
    try:
        _write(url, part, what, size)
        digest = _digest(part)
        received = part.stat().st_size
        if sha256 not in (None, digest) or size not in (None, received):
            raise ValueError(
                f"A downloaded file must be the one that was published: SHA-256 {sha256}, "
                f"{size} bytes. Received: {digest}, {received} bytes, from {url}."
            )
    except ConnectionError:
        raise
    except (OSError, ValueError):
        part.unlink(missing_ok=True)
        raise
    part.replace(path)
    return digest


def _write(url, part, what, size):
    """Appends to a file what it lacks."""
    tag = part.with_suffix(".etag")
    failures = 0
    with _progress(what) as show:
        while True:
            begun = part.stat().st_size if part.exists() else 0
            if begun and begun == size:
                break
            headers = {"Accept-Encoding": "identity"}
            if begun:
                headers["Range"] = f"bytes={begun}-"
                if tag.exists():
                    headers["If-Range"] = tag.read_text("utf-8")
            with _opened(url, headers) as response:
                if response.status == 416:  # All of it is there, or the file became shorter.
                    part.unlink()
                    continue
                if response.status not in (200, 206):
                    raise _refused(url, response.status)
                goes_on = response.status == 206
                if entity := response.headers.get("ETag", ""):
                    tag.write_text(entity, "utf-8")
                begun = begun if goes_on else 0
                length = int(response.headers.get("Content-Length") or 0)
                total = size or (begun + length if length else None)
                try:
                    with part.open("ab" if goes_on else "wb") as file:
                        for chunk in response.stream(_CHUNK, decode_content=False):
                            file.write(chunk)
                            show(file.tell(), total)
                            if size is not None and file.tell() > size:
                                break
                    break
                except urllib3.exceptions.HTTPError as error:
                    failures = 0 if part.stat().st_size > begun else failures + 1
                    if failures >= _TRIES:
                        raise ConnectionError(f"{_NEEDS} Received: {url} ({error}).") from error
    tag.unlink(missing_ok=True)


def _digest(path):
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@contextlib.contextmanager
def _opened(url, headers):
    """Yields the answer to a request, through the proxy that the environment names."""
    try:
        response = _pool(url).request(
            "GET", url, headers=headers, preload_content=False, timeout=_TIMEOUT, retries=_RETRIES
        )
    except (urllib3.exceptions.HTTPError, UnicodeError) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(f"{_NEEDS} Received: no answer from {url} ({reason}).") from error
    try:
        yield response
    finally:
        response.close()


def _pool(url):
    address = urlsplit(url)
    proxy = urllib.request.getproxies().get(address.scheme)
    if proxy and not urllib.request.proxy_bypass(address.hostname or ""):
        return urllib3.ProxyManager(proxy)
    return urllib3.PoolManager()


def _refused(url, status):
    if status in (404, 410):
        return FileNotFoundError(f"There is no such file. Received: {url} ({status}).")
    return ConnectionError(f"{_NEEDS} Received: HTTP status {status} from {url}.")


@contextlib.contextmanager
def _progress(what):
    """Yields a callable (bytes, total or None) that tells how far a download is."""
    shown = None
    is_terminal = sys.stderr.isatty()

    def show(done, total):
        nonlocal shown
        part = f"{100 * done // total} % of {total / 1e6:,.1f}" if total else f"{done / 1e6:,.0f}"
        line = f"Downloading {what}: {part} MB"
        if is_terminal and line != shown:
            tell(f"\r{line}", "")
        elif shown is None:
            tell(f"Downloading {what}" + (f", {total / 1e6:,.1f} MB ..." if total else " ..."))
        shown = line

    try:
        yield show
    finally:
        if is_terminal and shown:
            tell("")
