"""An address of a server: its method, its key, and the JSON of its errors."""

import asyncio
import dataclasses
import ipaddress
import re
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from kformer.server import libre_translate, openai_style
from kformer.server.refusals import ClientGone, Refusal
from kformer.server.request_bodies import check_key
from kformer.server.server_metrics import ServerMetrics

Answer = Callable[[Request, dict[str, Any]], Awaitable[Response]]
_GONE = 499  # In the log and the metrics, as of nginx; nobody reads the response.
_LOST = 500
_GET = ("GET", "HEAD")
# Version, trace, span and flags; no id is all zeros, and versions after 00 may have more fields.
_TRACEPARENT = re.compile(
    "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?"
)


@dataclasses.dataclass(frozen=True)
class Strangers:
    """Whose requests a server takes.

    Attributes:
        keys: Keys of which a request needs one; none is needed if this is empty.
        origins: Web sites whose pages may ask, "*" for all.
        is_local: Whether only programs of this machine reach the server. Without keys it then
            refuses requests that name another machine: a web site whose name leads to this machine
            could read the answers.
    """

    keys: Sequence[bytes] = ()
    origins: Sequence[str] = ()
    is_local: bool = False

    def check(self, request: Request):
        """Raises a `Refusal` if a page of an unknown web site asks, or the head is ambiguous."""
        headers = request.headers
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy may have read the other one, and take a part of the body for a request.
            raise Refusal(
                400,
                "A request has one of Content-Length and Transfer-Encoding. Received: both.",
                unread=True,
            )
        if "*" in self.origins:
            return
        is_of_page = headers.get("sec-fetch-site") == "cross-site" and request.method == "POST"
        if is_of_page and headers.get("origin") not in self.origins:
            raise Refusal(
                403,
                "Pages of other web sites need the option `--origin`. "
                f"Received: Origin: {headers.get('origin')!r:.80}.",
            )
        name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        known = {urlsplit(origin).hostname for origin in self.origins}
        if self.is_local and not self.keys and _is_of_others(name) and name not in known:
            raise Refusal(
                403,
                "A server of this machine answers requests to localhost; for another name it needs "
                f"the option `--origin`, or keys. Received: Host: {name!r:.80}.",
            )


def _is_of_others(name):
    """Returns whether a name may be of a web site: an address or a name of one word is not."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." in name and not name.endswith(".localhost")
    return False


def trace_facts(traceparent: str) -> dict[str, str]:
    """Returns the ids of a trace and its span, of W3C's header; none if it is malformed."""
    match = _TRACEPARENT.fullmatch(traceparent.strip(" \t"))
    return {"trace_id": match[1], "parent_id": match[2]} if match else {}


class Endpoint:
    """Answers the requests to an address, in ASGI.

    Args:
        address: Its path, with names in braces; in the log and the metrics.
        method: The method that it takes, "GET" or "POST"; with another one, the status is 405.
        answer: Returns the response. It receives the request, and a dict for facts for the log.
        metrics: `ServerMetrics`.
        strangers: `Strangers`.
        needs_key: Whether a request needs a key in its head; that of a POST may be in the body,
            where `answer` checks it.
        usage: What to send here, for requests with another method.
    """

    def __init__(
        self,
        address: str,
        method: str,
        answer: Answer,
        metrics: ServerMetrics,
        strangers: Strangers,
        needs_key: bool = True,
        usage: str = "",
    ):
        self._address, self._method, self._answer = address, method, answer
        self._metrics, self._strangers = metrics, strangers
        self._needs_key, self._usage = needs_key, usage or f"{method} this address."

    async def __call__(self, scope: Scope, receive: Receive, send: Send):
        response = await self.response(Request(scope, receive))
        await response(scope, receive, send)

    async def response(self, request: Request, _error: Exception | None = None) -> Response:
        """Returns the response to a request, counts it and logs it."""
        began = self._metrics.began()
        facts: dict[str, Any] = {}
        trace = trace_facts(request.headers.get("traceparent", ""))
        status = _LOST
        try:
            self._strangers.check(request)
            self._check_method(request)
            if self._needs_key and self._method == "GET":
                check_key(self._strangers.keys, request)
            response = await self._answer(request, facts)
            status = response.status_code
        except Refusal as refusal:
            response = self._refused(refusal)
            status = response.status_code
        except ClientGone:
            status = _GONE
            response = Response(status_code=_GONE)
        except asyncio.CancelledError:  # At the end of the grace.
            status = 503
            ended = Refusal(status, "The server ended before the answer was there.", unread=True)
            response = self._refused(ended)
        except ValueError as error:  # Of a model, about its texts.
            status = 400
            response = self._refused(Refusal(400, str(error)))
        except Exception:
            traceback.print_exc()
            response = self._refused(Refusal(_LOST, "The server failed. Its log has more."))
        finally:
            self._metrics.ended(began, self._address, status, **facts, **trace)
        return response

    def _check_method(self, request):
        allowed = _GET if self._method == "GET" else (self._method,)
        if self._method and request.method not in allowed:
            refusal = Refusal(405, f"{self._usage} Received: {request.method:.20}.")
            refusal.headers["Allow"] = ", ".join(allowed)
            raise refusal

    def _refused(self, refusal):
        """Returns the response to a refused request, in the form of its protocol."""
        status = refusal.status
        if self._address.startswith("/v1/translations") or self._address == "/v1/models":
            content = openai_style.error(refusal.message, status)
        else:
            content = {"error": refusal.message}
        if self._address in libre_translate.ADDRESSES:
            status = libre_translate.STATUSES.get(status, status)
        return JSONResponse(content, status, refusal.headers)
