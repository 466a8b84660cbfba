"""Reads requests within bounds of size and time, checks their keys, and notices who has gone."""

import asyncio
import hmac
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from kformer.json_files import check_schema, parse_json
from kformer.server.arriving_bodies import Place
from kformer.server.refusals import ClientGone, Refusal

_MULTIPART = "multipart/form-data"
_FORMS = (_MULTIPART, "application/x-www-form-urlencoded")
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


async def fields_of(
    request: Request, body: bytes, schema: Any, may_be_form: bool = True
) -> dict[str, Any]:
    """Returns the fields of a request by name: JSON; or a form of either type, or the query.

    `curl -d` names a form, whatever it sends: a body in braces is JSON all the same, because no
    field of a form begins so. Half of a surrogate pair, such as of an emoji that JavaScript cut, is
    read as U+FFFD.
    """
    kind = _media_type(request)
    is_form = not body or (kind in _FORMS and not body.lstrip().startswith(b"{"))
    try:
        if not (may_be_form and is_form):
            return parse_json(body, schema, mended=True)
        if body and kind == _MULTIPART:
            pairs = (await _parts(request, body, max_files=0)).multi_items()
        else:
            pairs = parse_qsl(body.decode(), True, True, errors="strict", max_num_fields=_FIELDS)
        return _form_fields(request, pairs, schema)
    except UnicodeDecodeError as error:
        raise Refusal(400, f"A form must be UTF-8. Received: {error.reason}.") from error
    except MultiPartException as error:
        raise Refusal(400, f"A form has fields alone. Received: {error.message}") from error
    except ValueError as error:
        what = "a form" if is_form and body else "JSON of the documented form"
        raise Refusal(400, f"A request must be {what}: {error}.") from error


def _media_type(request):
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _form_fields(request, pairs, schema):
    """Returns the fields of a query and a form by name: of one name the first, as LibreTranslate.

    Browsers end the lines of a form by CR LF, whatever the text has.
    """
    fields = dict(reversed([*request.query_params.multi_items(), *pairs]))
    fields = {name: value.replace("\r\n", "\n") for name, value in fields.items()}
    check_schema(fields, schema)
    return fields


def _parts(request, body, max_files):
    """Returns the coroutine of the parts of a body of type multipart/form-data."""
    parser = _InMemoryParser(
        request.headers,
        _chunks(body),
        max_files=max_files,
        max_fields=_FILE_FIELDS,
        max_part_size=len(body),
    )
    return parser.parse()


async def form_with_file(
    request: Request, body: bytes, schema: Any
) -> tuple[dict[str, Any], NamedFile]:
    """Returns the fields of a form of type multipart/form-data and of a query, and the file."""
    rule = "A request must be a form of type multipart/form-data with a file named 'file'."
    if _media_type(request) != _MULTIPART:
        received = request.headers.get("content-type", "")
        raise Refusal(400, f"{rule} Received: {received!r:.80}.")
    try:
        form = await _parts(request, body, max_files=1)
    except MultiPartException as error:
        raise Refusal(400, f"{rule} Received: {error.message}") from error
    upload = form.get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise Refusal(400, f"{rule} Received: no file of this name.")
    pairs = [pair for pair in form.multi_items() if pair[0] != "file"]
    try:
        fields = _form_fields(request, pairs, schema)
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
            403 if received else 401,
            "A valid key is needed, as `Authorization: Bearer KEY` or as the field api_key.",
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
