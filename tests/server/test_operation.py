"""A server in operation: many clients at once, metrics, and its end."""

import asyncio
import concurrent.futures
import shutil
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import kformer
from kformer.cli.serve import _listening
from kformer.server import host, openai_style
from kformer.server.hosted_files import _name_languages
from kformer.server.hosted_models import without_regions
from kformer.server.hosted_routes import for_languages
from kformer.server.http_protocol import JoinedWrites
from kformer.server.refusals import Refusal
from server.test_hosted_documents import hosted
from support import toy
from support.serving.served_api import served_api


def test_answers_are_sent_at_once():
    async def connected():
        delays = []

        def connect(reader, writer):
            connection = writer.get_extra_info("socket")
            delays.append(not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with _listening("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(connect, sock=listener):
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                await reader.read()
                writer.close()
        return delays

    assert asyncio.run(connected()) == [False]


def test_what_is_written_in_one_step_is_sent_together_and_before_the_end():
    sent = []

    class Recorder(asyncio.Transport):
        def write(self, data):
            sent.append(data)

        def close(self):
            sent.append("closed")

    async def write():
        transport = JoinedWrites(Recorder(), asyncio.get_running_loop())
        for data in (b"head ", b"body", b""):
            transport.write(data)
        await asyncio.sleep(0)
        transport.write(b"last")
        transport.close()
        await asyncio.sleep(0)

    asyncio.run(write())
    assert sent == [b"head body", b"last", "closed"]


def test_an_answer_arrives_in_one_piece(api):
    with socket.create_connection(("127.0.0.1", urlsplit(api.url).port)) as client:
        for _ in range(20):
            client.sendall(b"GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head, _, body = client.recv(2**16).partition(b"\r\n\r\n")
            assert f"content-length: {len(body)}" in head.decode().lower() and body


@pytest.mark.parametrize("requests", [200, pytest.param(10_000, marks=pytest.mark.prove)])
def test_of_many_clients_each_gets_its_own_answers(toy_tflite, requests):
    expected = dict(zip(toy.SOURCES, kformer.load(toy_tflite).translate(toy.SOURCES), strict=True))

    def ask(i):
        texts = [toy.SOURCES[(7 * i + j) % len(toy.SOURCES)] for j in range(i % 3 + 1)]
        return api.translate(texts)["translatedText"] == [expected[text] for text in texts]

    with served_api(toy_tflite, "--quiet") as api:
        with concurrent.futures.ThreadPoolExecutor(50) as clients:
            assert all(clients.map(ask, range(requests)))
        metrics = api.ask("/metrics").content.decode()
    number = f'kformer_requests_total{{route="/translate",status="200"}} {float(requests)}'
    assert number in metrics
    assert "kformer_waiting_characters 0.0" in metrics
    texts = sum(i % 3 + 1 for i in range(requests))
    assert f'kformer_texts_total{{model="de-en"}} {float(texts)}' in metrics


def test_a_full_queue_refuses_and_says_when_to_come_again(toy_tflite):
    text = " ".join(toy.SOURCES[:40])
    limited = served_api(toy_tflite, "--max-waiting", "2000")
    with limited as api, concurrent.futures.ThreadPoolExecutor(20) as clients:
        requests = [("/v1/models/de-en:predict", {"instances": [text] * 10})] * 20
        responses = [*clients.map(lambda request: api.ask(*request), requests)]
    assert {response.status for response in responses} == {200, 429}
    refused = [response for response in responses if response.status == 429]
    assert all(int(response.headers["Retry-After"]) > 0 for response in refused)


def test_the_requests_that_were_begun_are_answered_before_the_end(toy_tflite):
    texts = toy.SOURCES * 6
    with served_api(toy_tflite) as api, concurrent.futures.ThreadPoolExecutor(1) as client:
        answer = client.submit(api.translate, texts)
        while b"kformer_requests_open 2.0" not in api.ask("/metrics").content:
            assert not answer.done()
        assert api.end()[0] == 0
        assert answer.result()["translatedText"] == kformer.load(toy_tflite).translate(texts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.tflite"], "no such file"),
        (["pyproject.toml"], "which is none of them"),
        (["{model}", "{model}"], "a name of its own: NAME=PATH"),
        (["{model}", "--host", "203.0.113.7"], "free and one of this machine"),
        (["{model}", "--keys", "empty"], "must hold one or more"),
        (["{model}", "--port", "0", "--suggestions", "none/a"], "a file that can be written"),
    ],
)
def test_a_server_that_cannot_start_says_why(arguments, message, refused, toy_tflite, tmp_path):
    (tmp_path / "empty").write_text("\n")
    arguments = [argument.format(model=toy_tflite) for argument in arguments]
    arguments = [str(tmp_path / "empty") if name == "empty" else name for name in arguments]
    assert message in refused("serve", *arguments)


def test_a_server_tells_of_the_file_that_it_loaded_though_it_is_gone(toy_tflite, tmp_path):
    path = shutil.copyfile(toy_tflite, tmp_path / "a.tflite")
    created = int(path.stat().st_mtime)
    hosted = host([f"own={path}"])
    path.unlink()
    [listed] = openai_style.models_listed(hosted)["data"]
    assert (listed["id"], listed["created"]) == ("own", created)
    assert listed["examples"] == toy.SOURCES[toy.HELD_OUT][:3]


@pytest.mark.prove
def test_a_server_has_the_version_that_it_loaded_while_newer_ones_appear(toy_served, tmp_path):
    served = shutil.copytree(toy_served, tmp_path / "served")
    with served_api(f"sv={served}") as api:
        [number] = [child.name for child in served.iterdir() if child.name.isdecimal()]
        newer = str(int(number) + 1)
        shutil.copytree(served / number, served / newer)
        [version] = api.ask("/v1/models/sv").json["model_version_status"]
        assert version["version"] == number
        metadata = api.ask("/v1/models/sv/metadata").json
        assert metadata["model_spec"]["version"] == number
        predict = {"instances": ["wir"]}
        assert api.ask(f"/v1/models/sv/versions/{number}:predict", predict).status == 200
        assert api.ask(f"/v1/models/sv/versions/{newer}:predict", predict).status == 404


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        (("de-AT", "pt-BR"), ("de", "pt")),
        (("DE", "pt_br"), ("de", "pt")),
        (("auto", "es-419"), ("auto", "es")),
        ((None, "fr-CA"), (None, "fr-CA")),  # No model has it.
        (("de", "sr-Latn"), ("de", "sr-Latn")),  # A script is no region.
        (("de", "zh-TW"), ("de", "zh-TW")),
        (("de", "en-US"), ("de", "en-US")),  # A model has just this one.
    ],
)
def test_a_region_is_left_out_if_a_model_has_the_language(asked, known):
    model = hosted(list)
    model.about = {"directions": ["de-pt", "de-es", "de-sr", "de-zh", "de-en"]}
    regional = hosted(list)
    regional.about, regional.target_language = {"source_language": "de"}, "en-US"
    assert without_regions([model, regional], *asked) == known


def test_languages_are_named_for_a_translator_that_does_not_know_them():
    def unnamed(*names):
        models = {name: hosted(list) for name in names}
        for name, model in models.items():
            model.name, model.target_language = name, None
        return models

    models = unnamed("a", "b")
    _name_languages(models, "a=de-en")
    assert models["a"].directions == [("de", "en")] and not models["a"].lacks_languages
    with pytest.raises(Refusal, match="translates de to en"):
        for_languages([models["a"]], "de", "fr")
    _name_languages(models, "fr-es")  # Of the only one that is left.
    assert for_languages(models.values(), "fr", "es") is models["b"]
    for pair in ("a=de-en", "de-en", "b=de", "b=de-en-fr", "c=de-en"):
        with pytest.raises(ValueError, match=f"Received: '({pair}|{pair[2:]})'"):
            _name_languages(unnamed("b", "d"), pair)
    models = unnamed("a")
    _name_languages(models, "zh-Hans-pt-BR")
    assert models["a"].directions == [("zh-Hans", "pt-BR")]


def test_tensorflow_is_not_loaded_for_a_file(api):
    maps = Path(f"/proc/{api.process.pid}/maps").read_text()
    assert "ai_edge_litert" in maps
    assert "libtensorflow" not in maps
