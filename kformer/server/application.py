"""The ASGI application of a server: routes, limits, keys, errors."""

import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from kformer.kinds import TRANSLATOR
from kformer.server import libre_translate, openai_style, predict_api
from kformer.server.arriving_bodies import ArrivingBodies
from kformer.server.endpoint import Endpoint, Strangers
from kformer.server.hosted_documents import HostedDocuments
from kformer.server.hosted_files import HostedModels
from kformer.server.hosted_models import HostedModel
from kformer.server.model_memory import give_back
from kformer.server.openapi import openapi_document
from kformer.server.refusals import Refusal
from kformer.server.request_bodies import (
    check_key,
    declared_size,
    fields_of,
    form_with_file,
    has_key,
    read_body,
    unless_gone,
)
from kformer.server.server_metrics import ServerMetrics
from kformer.server.server_page import PAGE_FILES, page_file
from kformer.server.source_detection import detect
from kformer.server.suggestions import Suggestions
from kformer.server.translated_files import MINUTES, TranslatedFiles

_MOST_FILES = 10  # As many of the largest arrive or are translated, and as many wait for clients.
_MOST_UNKNOWN = 2  # As many of the largest arrive from clients who have not shown their keys.
_FOLLOW_SECONDS = 1.0  # Between two looks at the files of the models.
_FORM_BYTES = 20_000  # Of a form, beside its file.
_OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto")
_BYTES_PER_SECOND = 100_000  # Of a file that arrives.
_FORM = "POST a form of type multipart/form-data here, with file, source and target."


@dataclasses.dataclass(frozen=True)
class RequestLimits:
    """Limits of a request, and of the texts that wait.

    Attributes:
        characters: Maximum number of characters of a request.
        texts: Maximum number of texts of a request.
        waiting: Maximum number of characters of all requests that wait, by model.
        seconds: Time that a client has to send a request; with a file, a second more for each
            100,000 bytes.
        file_bytes: Maximum number of bytes of a file, and of characters of its texts.
        document_seconds: Maximum time of the translation of a file.

    Examples:
        >>> from kformer.server import RequestLimits, create_app, host
        >>> limits = RequestLimits(characters=500, texts=10)
        >>> app = create_app(host(["demo"]), limits, is_local=True)
    """

    characters: int = 50_000
    texts: int = 1_000
    waiting: int = 500_000
    seconds: float = 20.0
    file_bytes: int = 10_000_000
    document_seconds: float = 1_800.0

    @property
    def body_bytes(self) -> int:
        """Maximum number of bytes of a request, where 12 bytes may escape a character."""
        return 12 * self.characters + 100 * self.texts + 10_000

    def check(self, texts: Sequence[str], terms: Sequence[str] = ()):
        """Raises a `Refusal` if the texts of a request are too many or too long.

        Args:
            texts: The texts.
            terms: Other texts of the request, whose characters count.
        """
        if len(texts) > self.texts:
            raise Refusal(
                413, f"A request may have {self.texts:,} texts. Received: {len(texts):,}."
            )
        if (characters := sum(map(len, [*texts, *terms]))) > self.characters:
            raise Refusal(
                413,
                f"A request may have {self.characters:,} characters. Received: {characters:,}.",
            )


def create_app(
    models: Sequence[HostedModel],
    limits: RequestLimits | None = None,
    *,
    keys: Sequence[str] = (),
    origins: Sequence[str] = (),
    is_local: bool = False,
    log: IO[str] | None = sys.stderr,
    suggestions: str | Path | None = None,
) -> Starlette:
    """Returns an ASGI application that serves models.

    Args:
        models: Of `kformer.server.host`.
        limits: `RequestLimits`; by default those with its default values.
        keys: Keys of which a request needs one; none is needed if this is empty. The web page,
            /health and /openapi.json never need one.
        origins: Web sites whose pages may ask the server, such as "https://example.org"; "*" for
            all; by default none.
        is_local: Whether the server listens at the loopback address alone. Without keys it then
            answers only requests to localhost, an IP address, or the name of an origin, so that no
            web site can pass for this machine.
        log: Where a line of JSON is written for each request, without its texts; None for nowhere.
        suggestions: File to which better translations are appended that clients suggest; None to
            refuse them.

    Raises:
        ValueError: There is no model, a key is blank, or the file of suggestions cannot be written.

    Examples:
        >>> from kformer.server import create_app, host
        >>> from starlette.testclient import TestClient  # It needs the package httpx2.
        >>> asked = {"q": "Ein Hund läuft.", "source": "de", "target": "en"}
        >>> with TestClient(create_app(host(["demo"]), log=None)) as client:
        ...     answer = client.post("/translate", json=asked)
        >>> answer.json()["translatedText"]
        'A dog runs.'
    """
    if not models:
        raise ValueError("A server needs one model or more. Received: models=[].")
    if any(not key.strip() for key in keys):
        raise ValueError("A key must not be blank. Received: a blank one.")
    strangers = Strangers([key.encode() for key in keys], [*origins], is_local)
    suggestions_file = Suggestions(suggestions) if suggestions else None
    server = _Server(models, limits or RequestLimits(), strangers, log, suggestions_file)
    allowed = [
        Middleware(
            CORSMiddleware,
            allow_origins=[*origins],
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key"],
            allow_private_network=True,
        )
    ]
    return Starlette(
        routes=server.routes(),
        middleware=[Middleware(_OneSlash), *(allowed if origins else [])],
        exception_handlers={404: server.unknown().response},
        lifespan=server.lifespan,
    )


class _OneSlash:
    """Reads "//translate" as "/translate": so ask clients whose base address ends with a slash."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send):
        if scope["type"] == "http" and scope["path"].startswith("//"):
            scope = {**scope, "path": "/" + scope["path"].lstrip("/")}
        await self._app(scope, receive, send)


class _Server:
    """The answers to all requests."""

    def __init__(self, models, limits, strangers, log, suggestions):
        self._models = models if isinstance(models, HostedModels) else list(models)
        self._limits, self._strangers = limits, strangers
        self._keys, self._suggestions = strangers.keys, suggestions
        self._documents = HostedDocuments(
            limits.characters, limits.file_bytes, limits.document_seconds
        )
        most = limits.file_bytes + _FORM_BYTES
        self._arriving = ArrivingBodies(_MOST_FILES * most)
        # Of requests without a key in their heads, where one is needed.
        self._unknown = ArrivingBodies(_MOST_UNKNOWN * max(most, limits.body_bytes))
        self._translated = TranslatedFiles(_MOST_FILES * limits.file_bytes)
        self._metrics = ServerMetrics(self._models, log)

    @contextlib.asynccontextmanager
    async def lifespan(self, _app):
        """Starts the queues of the models, and waits for them at the end."""
        for model in self._models:
            model.start(self._limits.waiting)
        follow = asyncio.ensure_future(self._follow_files())
        yield
        follow.cancel()
        self._documents.close()
        await asyncio.gather(*(model.stop() for model in self._models))

    async def _follow_files(self):
        """Looks at the files of the models again and again, and serves what they hold now."""
        while isinstance(self._models, HostedModels):
            await asyncio.sleep(_FOLLOW_SECONDS)
            with contextlib.suppress(OSError):  # A folder is being replaced.
                if self._become(await asyncio.to_thread(self._models.changed)):
                    await asyncio.to_thread(give_back)

    def _become(self, models):
        """Serves other models; returns whether one that was served is not among them.

        Requests that have begun keep it, and with the last of them it leaves the memory.
        """
        for model in models:
            if model not in self._models:
                model.start(self._limits.waiting)
        replaced = [model for model in self._models if model not in models]
        for model in replaced:
            model.held.replace()
        self._models[:] = models
        return bool(replaced)

    def routes(self):
        """Returns the routes, which `openapi_document` describes."""
        model = next((each for each in self._models if each.kind is TRANSLATOR), self._models[0])
        pair = model.directions[0] if model.directions else ("de", "en")
        languages = dict(zip(("source", "target"), pair, strict=True))
        openai = _usage(input="...", model=model.name)
        name = "/v1/models/{model}"
        versions = (f"{name}/versions/{{version}}", f"{name}/labels/{{label}}")
        return [
            self._route("GET", "/health", self._health, needs_key=False),
            *(
                self._route("GET", path, self._openapi, needs_key=False)
                for path in ("/openapi.json", "/spec")  # The second is LibreTranslate's.
            ),
            self._route("GET", "/metrics", self._metrics_text),
            self._route("GET", "/languages", self._languages, needs_key=False),
            self._route("GET", "/frontend/settings", self._settings, needs_key=False),
            self._route("POST", "/detect", self._detect, usage=_usage(q="...")),
            self._route("POST", "/translate", self._translate, usage=_usage(q="...", **languages)),
            self._route("POST", "/suggest", self._suggest, usage=_usage(q="", s="", **languages)),
            self._route("POST", "/translate_file", self._translate_file, usage=_FORM),
            # LibreTranslate's clients fetch it without a key: its name is one.
            self._route("GET", "/download_file/{name}", self._download, needs_key=False),
            self._route("POST", "/v1/translations", self._translations, usage=openai),
            self._route("GET", "/v1/models", self._list),
            *(
                self._route(method, f"{path}{ending}", answer, usage=usage)
                for path in (*versions, name)
                for method, ending, answer, usage in (
                    ("POST", ":predict", self._predict, _usage(instances=["..."])),
                    ("GET", "/metadata", self._metadata, ""),
                    ("GET", "", self._status, ""),
                )
            ),
            *(
                self._route("GET", f"/{file}", self._page, needs_key=False, label="/{file}")
                for file in PAGE_FILES
            ),
        ]

    def unknown(self):
        """Returns the endpoint of all other addresses."""
        return self._endpoint("", "/{unknown}", self._nowhere, needs_key=False)

    def _route(self, method, path, answer, *, label="", **options):
        return Route(path, self._endpoint(method, label or path, answer, **options))

    def _endpoint(self, method, address, answer, **options):
        return Endpoint(address, method, answer, self._metrics, self._strangers, **options)

    async def _fields(self, request, schema, may_be_form=True):
        """Returns the fields of a request of a client who has a key."""
        limits = self._limits
        is_known = has_key(self._keys, request)
        if "api_key" not in schema.__annotations__:
            check_key(self._keys, request)
        with self._unknown.place() as place:
            most, place = limits.body_bytes, None if is_known else place
            body = await read_body(request, most, limits.seconds, place)
        fields = await fields_of(request, body, schema, may_be_form)
        if "api_key" in schema.__annotations__:
            check_key(self._keys, request, fields.get("api_key"))
        return fields

    async def _translate(self, request, facts):
        fields = await self._fields(request, libre_translate.TranslateRequest)
        texts = fields["q"] if isinstance(fields["q"], list) else [fields["q"]]
        self._limits.check(texts, libre_translate.terms_in(fields))
        facts |= _amount(texts)
        answer = libre_translate.translate(self._models, self._documents, fields)
        model, body = await unless_gone(request, answer)
        self._metrics.answered(model.name, **facts)
        facts["model"] = model.name
        return _json(body)

    async def _translate_file(self, request, facts):
        most = self._limits.file_bytes + _FORM_BYTES
        size = min(declared_size(request, most), most)
        seconds = self._limits.seconds + size / _BYTES_PER_SECOND
        is_known = has_key(self._keys, request)
        with (self._arriving if is_known else self._unknown).place() as place:
            body = await read_body(request, most, seconds, place)
            schema = libre_translate.TranslateFileRequest
            fields, file = await form_with_file(request, body, schema)
            check_key(self._keys, request, fields.get("api_key"))
            self._limits.check([], libre_translate.terms_in(fields))
            del body
            answer = libre_translate.translate_file(self._models, self._documents, fields, file)
            model, file, report = await unless_gone(request, answer)
        facts |= {"texts": report.segments, "characters": report.characters}
        self._metrics.answered(model.name, **facts)
        facts["model"] = model.name
        name = f"{self._translated.put(file)}.{quote(file.name)}"
        # A proxy may have another name and path, which nobody here knows.
        is_behind_proxy = any(header in request.headers for header in _OF_PROXIES)
        url = f"{'' if is_behind_proxy else request.base_url}download_file/{name}"
        return await asyncio.to_thread(_json, libre_translate.file_answer(url, report))

    async def _download(self, request, _facts):
        token = request.path_params["name"].partition(".")[0]
        file = self._translated.get(token)
        if file is None:
            raise Refusal(
                404,
                f"A translated file can be fetched within {MINUTES} minutes. "
                "Received: the name of no file.",
            )
        return Response(
            file.content,
            media_type="application/octet-stream",
            headers={
                "Content-Disposition": _attached(file.name),
                "Content-Security-Policy": "sandbox; default-src 'none'",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "no-store",
            },
        )

    async def _translations(self, request, facts):
        fields = await self._fields(request, openai_style.TranslationsRequest)
        texts = fields["input"] if isinstance(fields["input"], list) else [fields["input"]]
        self._limits.check(texts, libre_translate.terms_in(fields))
        facts |= _amount(texts)
        answer = openai_style.translations(self._models, self._documents, fields)
        body = await unless_gone(request, answer)
        self._metrics.answered(body["model"], **facts, sentences=body["usage"]["sentences"])
        facts["model"] = body["model"]
        return _json(body)

    async def _predict(self, request, facts):
        model = self._model(request)
        fields = await self._fields(request, predict_api.PredictRequest, may_be_form=False)
        name, columns = predict_api.inputs_of(model, fields)
        texts = [text for column in columns.values() for text in column]
        self._limits.check(texts)
        amount = _amount(texts)
        facts |= {"model": model.name, **amount}
        answer = predict_api.predict(model, name, columns, by_row="instances" in fields)
        body = await unless_gone(request, answer)
        self._metrics.answered(model.name, **amount)
        return _json(body)

    async def _detect(self, request, _facts):
        fields = await self._fields(request, libre_translate.DetectRequest)
        libre_translate.check_filled(fields, "q")
        texts = fields["q"] if isinstance(fields["q"], list) else [fields["q"]]
        return _json(await detect(self._models, texts))

    async def _suggest(self, request, _facts):
        if self._suggestions is None:
            raise Refusal(403, "Suggestions need the option `--suggestions`. Received: one.")
        fields = await self._fields(request, libre_translate.SuggestRequest)
        suggestion = {name: fields[name] for name in ("q", "s", "source", "target")}
        libre_translate.check_filled(suggestion, *suggestion)
        self._limits.check([], [*suggestion.values()])
        await asyncio.to_thread(self._suggestions.add, **suggestion)
        return _json({"success": True})

    async def _health(self, _request, _facts):
        held = [model.held for model in self._models if model.held]
        loading = [each.name for each in held if each.is_loading]
        loaded = sum(each.model is not None for each in held)
        return _json({"status": "ok", "models": len(held), "loaded": loaded, "loading": loading})

    async def _openapi(self, _request, _facts):
        names = [model.name for model in self._models]
        return _json(openapi_document(names, bool(self._keys), bool(self._suggestions)))

    async def _metrics_text(self, _request, _facts):
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _languages(self, _request, _facts):
        return _json(libre_translate.languages(self._models))

    async def _settings(self, _request, _facts):
        return _json(
            libre_translate.settings(
                self._models, self._limits.characters, bool(self._keys), bool(self._suggestions)
            )
        )

    async def _list(self, _request, _facts):
        return _json(openai_style.models_listed(self._models))

    async def _metadata(self, request, _facts):
        return _json(predict_api.metadata(self._model(request)))

    async def _status(self, request, _facts):
        return _json(predict_api.status(self._model(request)))

    async def _page(self, request, _facts):
        return page_file(request.url.path.removeprefix("/"))

    async def _nowhere(self, _request, _facts):
        raise Refusal(404, "There is no such address; /openapi.json lists all of them.")

    def _model(self, request):
        """Returns the model in an address of TensorFlow Serving's API."""
        path = request.path_params
        model = openai_style.model_named(self._models, path["model"])
        predict_api.check_version(model, path.get("version"), path.get("label"))
        return model


def _amount(texts: Sequence[str]) -> dict[str, int]:
    """Returns the numbers of texts and of their characters, for the log and the metrics."""
    return {"texts": len(texts), "characters": sum(map(len, texts))}


def _usage(**fields: Any) -> str:
    """Returns the sentence about what to send to an address."""
    return f"POST JSON here, such as {json.dumps(fields)}."


def _attached(name: str) -> str:
    """Returns the header by which a browser stores a file under its name."""
    if (quoted := quote(name)) == name:
        return f'attachment; filename="{name}"'
    return f"attachment; filename*=UTF-8''{quoted}"


def _json(content: Any) -> JSONResponse:
    return JSONResponse(content)
