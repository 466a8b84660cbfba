"""Reads requests within bounds of size and time, checks their keys, and notices who has gone."""

import asyncio
import hmac
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from kformer.json_files import check_schema, parse_json
from kformer.server.arriving_bodies import Place
from kformer.server.refusals import ClientGone, Refusal

_FIELDS = 1_000  # Of a form, at most;
_FILE_FIELDS = 20  # of one with a file, whose fields may be larger.
_CHUNK = 2**16  # Bytes of a form with a file that are read at once.
# Bytes of a request that is too large, which are read all the same: a client that is still sending
# when the connection closes does not see the answer.
_DISCARDED = 2**24


class NamedFile(NamedTuple):
    """The content of a file, and its name without a folder, as its client knows it."""

    name: str
    content: bytes


async def read_body(
    request: Request, most: int, seconds: float, place: Place | None = None
) -> bytes:
    """Returns the body of a request.

    Args:
        most: The largest number of bytes.
        seconds: Time that the client has to send it.
        place: Grows with the bytes that have come.
    """
    declared, body, readable = declared_size(request), bytearray(), max(most, _DISCARDED)
    size, refusal = 0, _too_large(most) if declared > most else None
    try:
        async with asyncio.timeout(seconds):
            if declared <= readable:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > most:
                        refusal = refusal or _too_large(most)
                    if size > readable:
                        break
                    if refusal is None:
                        try:
                            if place:
                                place.grow(len(chunk))
                            body += chunk
                        except Refusal as error:
                            refusal = error
                    if refusal:
                        body.clear()
    except TimeoutError as error:
        late = f"A request must arrive within {seconds:g} seconds. Received: a part of it."
        raise Refusal(408, late, unread=True) from error
    except ClientDisconnect as error:
        raise ClientGone from error
    if refusal:
        if max(size, declared) > readable:
            refusal.close()
        raise refusal
    return bytes(body)


def _too_large(most):
    return Refusal(413, f"A request may have {most:,} bytes. Received: more.")


def declared_size(request: Request, default: int = 0) -> int:
    """Returns the number of bytes that the head of a request declares, or the default."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else default


def fields_of(body: bytes, content_type: str, schema: Any) -> dict:
    """Returns the fields of a body, JSON or the form of a web page, by name.

    `curl -d` names a form, whatever it sends: a body in braces is JSON all the same, because no
    field of a form begins so. Half of a surrogate pair, such as of an emoji that JavaScript cut, is
    read as U+FFFD.
    """
    try:
        is_named_form = _media_type(content_type) == "application/x-www-form-urlencoded"
        if is_named_form and not body.lstrip().startswith(b"{"):
            pairs = parse_qsl(body.decode(), True, True, errors="strict", max_num_fields=_FIELDS)
            fields = dict(pairs)
            check_schema(fields, schema)
            return fields
        return parse_json(body, schema, mended=True)
    except UnicodeDecodeError as error:
        raise Refusal(400, f"A form must be UTF-8. Received: {error.reason}.") from error
    except ValueError as error:
        raise Refusal(400, f"A request must be JSON of the documented form: {error}.") from error


def _media_type(content_type):
    return content_type.partition(";")[0].strip().lower()


async def form_with_file(
    body: bytes, content_type: str, schema: Any
) -> tuple[dict[str, Any], NamedFile]:
    """Returns the fields of a body of type multipart/form-data by name, and its file."""
    rule = "A request must be a form of type multipart/form-data with a file named 'file'."
    if _media_type(content_type) != "multipart/form-data":
        raise Refusal(400, f"{rule} Received: {content_type!r:.80}.")
    headers = Headers({"content-type": content_type})
    parser = _InMemoryParser(headers, _chunks(body), max_files=1, max_fields=_FILE_FIELDS)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise Refusal(400, f"{rule} Received: {error.message}") from error
    upload = form.get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise Refusal(400, f"{rule} Received: no file of this name.")
    fields = {name: value for name, value in form.items() if name != "file"}
    try:
        check_schema(fields, schema)
    except ValueError as error:
        raise Refusal(400, f"{rule} Received: {error}.") from error
    return fields, NamedFile(upload.filename, await upload.read())


class _InMemoryParser(MultiPartParser):
    """A parser that writes no file to the disk."""

    spool_max_size = 2**31


async def _chunks(body):
    """Yields the body piece by piece, between which other requests have their turn."""
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]
        await asyncio.sleep(0)


def has_key(keys: Sequence[bytes], request: Request) -> bool:
    """Returns whether the head of a request has one of the keys, or none is needed."""
    if keys and not _key_in_head(request):
        return False
    check_key(keys, request)
    return True


def _key_in_head(request):
    bearer, _, token = request.headers.get("authorization", "").partition(" ")
    return token if bearer.lower() == "bearer" else request.headers.get("x-api-key", "")


def check_key(keys: Sequence[bytes], request: Request, key: str | None = None):
    """Raises a `Refusal` unless a request has one of the keys, or none is needed."""
    if not keys:
        return
    received = (key or _key_in_head(request)).encode("utf-8", "surrogateescape")
    matches = [hmac.compare_digest(received, valid) for valid in keys]  # Always with all of them.
    if True not in matches:
        raise Refusal(
            403 if received else 401, "A valid key is needed, as `Authorization: Bearer KEY`."
        )


async def unless_gone(request: Request, answer: Coroutine) -> Any:
    """Returns the result of a coroutine, which is cancelled if the client goes away."""
    task = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _gone(request):
    while (await request.receive())["type"] != "http.disconnect":
        pass
