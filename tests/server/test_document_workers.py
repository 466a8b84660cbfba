"""Processes that translate the documents of a server: they end when nobody waits for them."""

import asyncio
import contextlib
import json
import threading
import time

import pytest
from starlette.requests import Request

from kformer.documents.document_translation import translate_content
from kformer.inference.facts import ModelFacts
from kformer.inference.splitting import translate_split
from kformer.server.document_process import DocumentJob
from kformer.server.document_workers import DocumentWorkers, Stop
from kformer.server.endpoint import Endpoint, Strangers
from kformer.server.refusals import Refusal
from kformer.server.server_metrics import ServerMetrics
from server.test_hosted_documents import Best
from support.serving.served_api import served_api

PAGE = b"<p>ein <b>hund</b></p><p>zwei</p>"


class Shouting:
    """A translator that answers in capitals, after `wait()`."""

    facts = ModelFacts(about={"source_language": "de"}, target_language="en")

    def __init__(self, wait=lambda: None):
        self._wait = wait

    def split_translations(self, texts, glossary=None, **_languages):
        self._wait()
        return translate_split(lambda asked, _: [Best(text.upper()) for text in asked], texts)


def job_of(content, name="a.html"):
    return DocumentJob(content, name, None, Shouting.facts)


@pytest.fixture(scope="module")
def workers():
    workers = DocumentWorkers(60)
    yield workers
    workers.close()


def test_a_process_translates_as_this_one_and_then_the_next_document(workers):
    expected = translate_content(PAGE, "a.html", Shouting())
    assert workers.translate(job_of(PAGE), Shouting(), Stop()) == expected
    [process] = workers._idle
    with pytest.raises(ValueError, match=r"must have one of the suffixes .txt"):
        workers.translate(job_of(PAGE, "a.pdf"), Shouting(), Stop())

    def fail():
        raise Refusal(429, "full")

    with pytest.raises(Refusal, match="full"):
        workers.translate(job_of(PAGE), Shouting(fail), Stop())
    assert workers.translate(job_of(PAGE), Shouting(), Stop()) == expected
    assert [*workers._idle] == [process]


def test_a_process_ends_when_its_client_goes_and_another_one_comes(workers):
    stop, asked = Stop(), threading.Event()
    threading.Thread(target=lambda: (asked.wait(), stop("gone"))).start()

    def leave():
        asked.set()
        while not stop.reason:
            time.sleep(0.01)

    processes = [*workers._idle]
    with pytest.raises(ChildProcessError, match="was ended"):
        workers.translate(job_of(PAGE), Shouting(leave), stop)
    assert not workers._idle and all(process.poll() is not None for process in processes)
    with pytest.raises(ChildProcessError):  # It had gone before.
        workers.translate(job_of(PAGE), Shouting(), stop)
    assert workers.translate(job_of(PAGE), Shouting(), Stop())[1].segments == 2


def test_a_document_that_takes_too_long_is_refused():
    workers, stop = DocumentWorkers(0.05), Stop()

    def wait():
        while not stop.reason:
            time.sleep(0.01)

    with pytest.raises(Refusal, match=r"may take 0.05 seconds. Received: a longer one") as refused:
        workers.translate(job_of(PAGE), Shouting(wait), stop)
    assert refused.value.status == 413 and not workers._idle


def test_a_request_that_is_cut_off_at_the_end_has_an_answer():
    async def answer(_request, _facts):
        await asyncio.sleep(60)

    async def cut_off():
        endpoint = Endpoint("/a", "GET", answer, ServerMetrics(lambda: 0, None), Strangers())
        task = asyncio.ensure_future(endpoint.response(Request({**SCOPE, "method": "GET"})))
        await asyncio.sleep(0.01)
        task.cancel()
        return await task

    response = asyncio.run(cut_off())
    assert (response.status_code, response.headers["Connection"]) == (503, "close")
    assert "ended before the answer" in json.loads(response.body)["error"]


SCOPE = {"type": "http", "path": "/a", "headers": [], "query_string": b""}


@pytest.mark.prove
def test_no_file_keeps_a_server_from_its_end(toy_tflite):
    """A large file without words, which takes a reader half a minute."""
    page = b"<p>1</p>" * 1_200_000
    fields = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    parts = [(b"source", b"", b"de"), (b"target", b"", b"en")]
    parts.append((b"file", b'; filename="a.html"', page))
    body = b"".join(fields % part for part in parts) + b"--b--"
    with served_api(toy_tflite, "--document-seconds", 1) as api:
        late = api.ask("/translate_file", body, Content_Type="multipart/form-data; boundary=b")
        assert late.status == 400 and "may take 1 seconds" in late.json["error"]
    with served_api(toy_tflite) as api:
        connection = api.connection()
        with contextlib.closing(connection):
            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            connection.request("POST", "/translate_file", body, headers)
            while b"kformer_requests_open 2.0" not in api.ask("/metrics").content:
                time.sleep(0.1)
            time.sleep(1)
        began = time.monotonic()
        assert api.end()[0] == 0
        assert time.monotonic() - began < 5
