"""Requests of strangers: each gets a status and a sentence, and the server goes on."""

import contextlib
import json
import socket
import time

import pytest

from server.test_files_and_html import fetched, posted
from support.serving.served_api import served_api

TEXT = {"q": "wir sucht uns .", "source": "de", "target": "en"}


@pytest.fixture(scope="module")
def guarded(toy_tflite):
    """A server with keys and small limits."""
    options = ["--max-characters", 200, "--max-texts", 5, "--max-file-bytes", 1000]
    with served_api(toy_tflite, *options, variables={"KFORMER_API_KEYS": "tea coffee"}) as api:
        yield api


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/translate", b"{", 400, "must be JSON of the documented form: not JSON"),
        ("/translate", b"[" * 100_000, 400, "nested too deeply"),
        ("/translate", b'{"q": "\xff"}', 400, "not UTF-8"),
        ("/translate", {"q": 1, "source": "de", "target": "en"}, 400, "must be a string or an"),
        ("/translate", {"q": "a", "source": "de"}, 400, "must have 'target'"),
        ("/translate", {**TEXT, "target": "fr"}, 400, "translates de to en. Received: source='de'"),
        ("/translate", {**TEXT, "format": "xml"}, 400, "format must be 'text' or 'html'"),
        ("/translate", {**TEXT, "protected": ["(a+)+$"]}, 400, "kinds of placeholders: tag, url"),
        ("/translate", {**TEXT, "format": "html", "target": "fr"}, 400, "translates de to en"),
        ("/translate", {**TEXT, "format": "html", "q": "<b>" * 2000}, 400, "1,000 elements"),
        ("/v1/translations", {"input": "a", "target_language": "en", "format": 1}, 400, "a string"),
        ("/translate", {**TEXT, "alternatives": 21}, 400, "must be a number up to 20"),
        ("/translate", {**TEXT, "q": ""}, 400, "The field q must not be blank"),
        ("/translate", {**TEXT, "q": ["a"] * 1001}, 400, "1,000 texts. Received: 1,001"),
        ("/translate", {**TEXT, "q": "a" * 50_001}, 400, "50,000 characters. Received: 50,001"),
        ("/translate", b"a" * 1_000_000, 400, "bytes"),
        ("/v1/translations", {"input": ["a"] * 1001, "model": "de-en"}, 413, "1,000 texts"),
        ("/v1/translations", {"input": "a"}, 400, "names a model or a target language"),
        ("/v1/models/none:predict", {"instances": ["a"]}, 404, "has the models de-en"),
        ("/v1/models/de-en/versions/7:predict", {"instances": ["a"]}, 404, "has the version 1"),
        ("/v1/models/de-en/labels/old:predict", {"instances": ["a"]}, 404, "no labels"),
        ("/v1/models/de-en:predict", {"instances": [1]}, 400, "'text' must be strings"),
        ("/v1/models/de-en:predict", {"instances": [{"txt": "a"}]}, 400, "needs text for each"),
        ("/v1/models/de-en:predict", {"inputs": {"text": "a"}}, 400, "must be strings"),
        ("/v1/models/de-en:predict", {}, 400, "either 'instances' or 'inputs'"),
        ("/v1/models/de-en:predict", {"signature_name": "x", "inputs": []}, 400, "signatures"),
    ],
)
def test_a_malformed_request_is_told_the_rule(api, path, body, status, message):
    response = api.ask(path, body)
    assert response.status == status
    error = response.json["error"]
    assert message in (error if isinstance(error, str) else error["message"])


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/../pyproject.toml", "/%2e%2e/LICENSE", "/none", "/v1/none"]
)
def test_no_address_reaches_the_file_system(api, path):
    for body in (None, b"{}"):
        response = api.ask(path, body)
        assert response.status == 404
        assert response.json == {
            "error": "There is no such address; /openapi.json lists all of them."
        }


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "text/plain", "APPLICATION/JSON", None]
)
def test_json_is_read_whatever_type_a_client_gives_it(api, content_type):
    """`curl -d` calls all that it sends a form."""
    headers = {"Content-Type": content_type} if content_type else {}
    requests = [
        ("/v1/models/de-en:predict", {"instances": [TEXT["q"]]}),
        ("/v1/models/de-en/versions/1:predict", {"inputs": {"text": [TEXT["q"]]}}),
        ("/translate", TEXT),
        ("/v1/translations", {"model": "de-en", "input": TEXT["q"]}),
    ]
    for path, fields in requests:
        body = b"  " + json.dumps(fields).encode()
        assert api.ask(path, body, **headers).json == api.ask(path, fields).json
        assert api.ask(path, body, **headers).status == 200


@pytest.mark.parametrize(
    ("path", "method", "allowed", "usage"),
    [
        ("/translate", "GET", "POST", 'POST JSON here, such as {"q": "...", "source": "de"'),
        ("/translate", "OPTIONS", "POST", "POST JSON here"),
        ("/detect", "GET", "POST", "POST JSON here"),
        ("/translate_file", "GET", "POST", "POST a form of type multipart/form-data here"),
        ("/v1/translations", "PUT", "POST", 'POST JSON here, such as {"input": "...", "model": '),
        ("/v1/models/de-en:predict", "GET", "POST", 'POST JSON here, such as {"instances": ["'),
        ("/v1/models/de-en/versions/1:predict", "GET", "POST", "POST JSON here"),
        ("/v1/models/de-en", "POST", "GET, HEAD", "GET this address. Received: POST."),
        ("/languages", "POST", "GET, HEAD", "GET this address. Received: POST."),
        ("/", "DELETE", "GET, HEAD", "GET this address. Received: DELETE."),
    ],
)
def test_another_method_is_told_what_to_send(api, path, method, allowed, usage):
    response = api.ask(path, method=method)
    assert (response.status, response.headers["Allow"]) == (405, allowed)
    error = response.json["error"]
    assert (error if isinstance(error, str) else error["message"]).startswith(usage)
    assert api.ask("/v1/models/de-en:predict", method="HEAD").status == 405


def test_half_of_an_emoji_is_read_as_a_replacement_character(api):
    body = json.dumps({**TEXT, "q": f"{TEXT['q']} \ud83d"}).encode()
    assert b"\\ud83d" in body
    assert api.ask("/translate", body).json == api.translate(f"{TEXT['q']} \ufffd")
    whole = json.dumps({**TEXT, "q": f"{TEXT['q']} \U0001f600"}).encode()
    assert api.ask("/translate", whole).json == api.translate(f"{TEXT['q']} \U0001f600")


def test_a_request_needs_one_of_the_keys(guarded):
    assert guarded.ask("/health").status == guarded.ask("/").status == 200
    assert guarded.ask("/translate", TEXT).status == 400  # As LibreTranslate.
    assert guarded.ask("/metrics").status == guarded.ask("/v1/models").status == 401
    assert guarded.ask("/translate", {**TEXT, "api_key": "te"}).status == 403
    assert guarded.ask("/translate", TEXT, Authorization="Bearer tea coffee").status == 403
    for way in ({"Authorization": "Bearer tea"}, {"X_API_Key": "coffee"}):
        assert guarded.ask("/translate", TEXT, **way).status == 200
        assert guarded.ask("/v1/models", **way).status == 200
    assert guarded.translate(TEXT["q"], api_key="tea")["translatedText"]


def test_files_have_a_limit_and_need_a_key_that_their_addresses_do_not(guarded):
    assert posted(guarded, "a.txt", "wir").status == 400
    assert posted(guarded, "a.txt", "wir", api_key="te").status == 403
    assert posted(guarded, "a.txt", "w" * 100_000, api_key="tea").status == 400
    assert posted(guarded, "a.txt", "wir ." * 200, api_key="tea").status == 200
    assert fetched(guarded, posted(guarded, "a.txt", "wir .", api_key="tea")).status == 200


def test_pages_of_other_sites_may_not_ask(api):
    headers = api.ask("/translate", TEXT, Origin="https://example.org").headers
    assert "Access-Control-Allow-Origin" not in headers
    simple = {"Origin": "https://example.org", "Sec_Fetch_Site": "cross-site"}
    response = api.ask("/translate", json.dumps(TEXT).encode(), Content_Type="text/plain", **simple)
    assert response.status == 403
    assert "Received: Origin: 'https://example.org'" in response.json["error"]


def test_no_site_passes_for_this_machine(api, guarded):
    """A browser believes a name of a web site that leads to 127.0.0.1."""
    response = api.ask("/translate", TEXT, Host="site.example.org:5000")
    assert response.status == api.ask("/languages", Host="example.org").status == 403
    assert "answers requests to localhost" in response.json["error"]
    for host in ("localhost:1", "127.0.0.1", "[::1]:9", "a.localhost", "translator"):
        assert api.ask("/translate", TEXT, Host=host).status == 200
    assert guarded.ask("/translate", TEXT, Host="example.org", X_API_Key="tea").status == 200


def test_the_pages_of_a_known_site_may_ask(toy_tflite):
    site = "https://example.org"
    with served_api(toy_tflite, "--origin", site) as api:
        asked = {"Origin": site, "Access_Control_Request_Private_Network": "true"}
        preflight = api.ask(
            "/translate", method="OPTIONS", Access_Control_Request_Method="POST", **asked
        )
        assert preflight.status == 200
        assert preflight.headers["Access-Control-Allow-Private-Network"] == "true"
        response = api.ask("/translate", TEXT, Origin=site, Sec_Fetch_Site="cross-site")
        assert response.headers["Access-Control-Allow-Origin"] == site
        assert response.status == api.ask("/languages", Host="example.org").status == 200
        assert api.ask("/languages", Host="example.com").status == 403


def raw(api, content):
    """Returns what the server answers to bytes, until it closes the connection or 5 s pass."""
    host, port = api.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(content)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                answer += chunk
        return answer


def test_two_lengths_of_a_body_are_refused_and_close(api):
    body = json.dumps(TEXT).encode()
    head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"
    answer = raw(api, b"%s\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (head, len(body), body))
    assert answer.startswith(b"HTTP/1.1 400") and b"Received: both" in answer
    assert b"connection: close" in answer.lower()


def test_headers_without_end_are_cut_off(api):
    assert raw(api, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 1_000_000).startswith(b"HTTP/1.1 400")
    assert raw(api, b"\x16\x03\x01\x02\x00").startswith(b"HTTP/1.1 400")
    assert api.ask("/health").status == 200


def test_a_body_that_does_not_come_does_not_stay(toy_tflite):
    head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"
    with served_api(toy_tflite, "--seconds", "0.3") as api:
        assert b"must arrive within 0.3 seconds" in raw(api, head)
        assert raw(api, head[:30]) == raw(api, b"") == b""
        assert api.translate(TEXT["q"])["translatedText"]


def test_heads_of_uploads_keep_nobody_out(guarded):
    """Who only says that much will come takes no room, and who shows no key has little."""
    head = b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    host, port = guarded.url.removeprefix("http://").split(":")
    with contextlib.ExitStack() as stack:
        for path in 15 * [b"/translate_file", b"/translate"]:
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(head % path + b"Content-Length: 12000\r\n\r\n--b")
        assert posted(guarded, "a.txt", "wir .", api_key="tea").status == 200
        assert guarded.translate(TEXT["q"], api_key="tea")["translatedText"]
        for _ in range(20):  # Bytes of clients without a key.
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(head % b"/translate_file" + b"Content-Length: 12000\r\n\r\n")
            connection.sendall(b"a" * 10_400)
        while posted(guarded, "a.txt", "wir .", api_key="tea").status != 429:
            time.sleep(0.01)
        key = {"X-API-Key": "tea"}
        assert posted(guarded, "a.txt", "wir .", headers=key).status == 200
        assert guarded.ask("/translate", TEXT, **key).status == 200


def test_a_wrong_key_in_the_head_is_refused_before_the_body(guarded):
    head = (
        b"POST /translate_file HTTP/1.1\r\nHost: a\r\nX-API-Key: te\r\nContent-Length: 900\r\n\r\n"
    )
    host, port = guarded.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(head)
        assert connection.recv(4096).startswith(b"HTTP/1.1 403")


def test_silent_connections_do_not_take_all_places(toy_tflite):
    limits = ["--connections", 5, "--seconds", 0.3]
    with served_api(toy_tflite, *limits) as api, contextlib.ExitStack() as stack:
        host, port = api.url.removeprefix("http://").split(":")
        for _ in range(20):
            stack.enter_context(socket.create_connection((host, int(port))))
        time.sleep(1)
        assert api.translate(TEXT["q"])["translatedText"]


def test_the_log_has_no_texts_and_no_keys(toy_tflite):
    with served_api(toy_tflite, variables={"KFORMER_API_KEYS": "secret"}) as api:
        assert api.translate("wir sucht uns .", api_key="secret")["translatedText"]
        assert api.ask("/translate?api_key=secret", TEXT).status == 400
        assert fetched(api, posted(api, "sucht.txt", "sucht", api_key="secret")).status == 200
        code, log = api.end()
    assert code == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line["status"] for line in lines] == [200, 400, 200, 200]
    assert lines[0]["characters"] == len("wir sucht uns .")
    assert "secret" not in log and "sucht" not in log
