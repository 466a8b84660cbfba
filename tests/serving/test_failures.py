"""What the client does when a server is busy, slow, broken or gone: tries again, in time."""

import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest

from kformer.serving import Client, ServedTranslation, ServerError, deadline
from kformer.serving.request_rows import read_several
from support.processes import run_python
from support.serving.script import SERVERS, Script

BUSY = {"rest": [429, 503], "grpc": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}
LASTING = {
    "rest": [400, 401, 403, 404, 500, 501, 504, 301],
    "grpc": ["INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "INTERNAL", "UNIMPLEMENTED"],
}
EACH_BUSY = [(protocol, act) for protocol, acts in BUSY.items() for act in acts]
EACH_LASTING = [(protocol, act) for protocol, acts in LASTING.items() for act in acts]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(deadline, "FIRST_WAIT", 0.02)


@pytest.mark.parametrize(("protocol", "act"), [*EACH_BUSY, ("rest", "reset")])
def test_requests_to_a_busy_server_are_retried(protocol, act):
    script = Script(*[act] * 4)
    with SERVERS[protocol](script) as url:
        assert Client(url, "m").translate(["a", "b"]) == ["a", "b"]
    assert len(script.times) == 5


@pytest.mark.parametrize(("protocol", "act"), EACH_BUSY)
def test_after_the_last_attempt_its_error_is_raised(protocol, act):
    script = Script(*[act] * 9)
    with SERVERS[protocol](script) as url, pytest.raises(ServerError) as error:
        Client(url, "m", retries=2).translate(["a"])
    assert len(script.times) == 3
    assert (error.value.code, error.value.message) == (act, f"act {act}")
    assert str(error.value).startswith(url) and f"answered {act}: act {act}" in str(error.value)


@pytest.mark.parametrize(("protocol", "act"), EACH_LASTING)
def test_lasting_errors_are_not_retried(protocol, act):
    script = Script(act)
    with SERVERS[protocol](script) as url, pytest.raises(ServerError) as error:
        Client(url, "m").translate(["a"])
    assert len(script.times) == 1
    assert error.value.code == act


def test_waits_double_and_vary(protocol, monkeypatch):
    monkeypatch.setattr(deadline, "FIRST_WAIT", 0.1)
    waits = []
    monkeypatch.setattr(deadline.Deadline, "wait", lambda self, seconds: waits.append(seconds))
    for _ in range(3):
        script = Script(*[BUSY[protocol][0]] * 8)
        with SERVERS[protocol](script) as url:
            Client(url, "m", retries=8).translate(["a"])
    for attempt, longest in enumerate([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]):
        of_attempt = waits[attempt::8]
        assert all(longest / 2 <= wait <= longest for wait in of_attempt)
        assert len({*of_attempt}) == 3


def test_a_server_may_set_the_wait_before_a_retry():
    script = Script({429: {"Retry-After": "1"}}, {503: {"Retry-After": "Wed, 21 Oct 2015"}})
    with SERVERS["rest"](script) as url:
        Client(url, "m").translate(["a"])
    first, second, third = script.times
    assert second - first >= 1
    assert third - second < 1


def test_an_unreachable_server_is_an_error_after_all_retries(protocol, scheme):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    start = time.monotonic()
    with pytest.raises(OSError, match="refused") as error:
        Client(f"{scheme}://127.0.0.1:{port}", "m", retries=3).translate(["a"])
    assert isinstance(error.value, {"rest": ConnectionError, "grpc": ServerError}[protocol])
    assert 0.02 * (1 + 2 + 4) / 2 < time.monotonic() - start < 10


def test_a_server_that_comes_up_meanwhile_is_found(protocol):
    """A restart must look like slowness; a gRPC channel has waits of its own to be shortened."""
    with SERVERS[protocol](Script()) as url:
        pass
    port = int(url.rpartition(":")[2])
    client = Client(url, "m", retries=50)
    answers = []
    thread = threading.Thread(target=lambda: answers.extend(client.translate(["a"])))
    thread.start()
    time.sleep(0.5)
    with SERVERS[protocol](Script(), port=port):
        thread.join(10)
    assert answers == ["a"]


@pytest.mark.parametrize(("protocol", "act"), [("rest", 9.0), ("grpc", 9.0), ("rest", "drip")])
def test_the_deadline_is_kept_and_the_next_call_unharmed(protocol, act):
    with SERVERS[protocol](Script(act)) as url:
        client = Client(url, "m", timeout=0.5)
        start = time.monotonic()
        with pytest.raises(TimeoutError, match=r"Received: timeout=0\.5, in seconds"):
            client.translate(["a"])
        assert time.monotonic() - start < 1.5
        assert client.translate(["b"]) == ["b"]


@pytest.mark.parametrize(("protocol", "act"), EACH_BUSY)
def test_a_server_that_stays_busy_is_asked_until_the_deadline(protocol, act):
    script = Script(*[act] * 999)
    with SERVERS[protocol](script) as url:
        start = time.monotonic()
        with pytest.raises(ServerError, match=f"act {act}"):
            Client(url, "m", timeout=0.5, retries=999).translate(["a"])
        assert time.monotonic() - start < 1.5
    assert len(script.times) > 2


def test_the_deadline_is_that_of_the_whole_call(protocol):
    script = Script(*[0.2] * 99)
    with SERVERS[protocol](script) as url:
        client = Client(url, "m", timeout=1.0, batch_size=1, connections=2)
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            client.translate(["a"] * 99)
        assert time.monotonic() - start < 2
        assert len(script.times) < 20  # Of 99 pieces: those that there was time for.


def test_after_an_error_no_further_request_is_sent(protocol):
    script = Script(LASTING[protocol][0], *[0.1] * 99)
    with SERVERS[protocol](script) as url, pytest.raises(ServerError):
        Client(url, "m", batch_size=1, connections=2).translate(["a"] * 99)
    time.sleep(0.5)
    assert len(script.times) < 9


def test_several_requests_run_at_once(protocol):
    with SERVERS[protocol](Script(*[0.3] * 8)) as url:
        client = Client(url, "m", batch_size=1, connections=8)
        start = time.monotonic()
        assert client.translate(list("abcdefgh")) == list("abcdefgh")
        assert time.monotonic() - start < 0.3 * 4


def test_headers_are_sent(protocol):
    script = Script()
    with SERVERS[protocol](script) as url:
        Client(url, "m", headers={"Authorization": "Bearer abc"}).translate(["a"])
    [headers] = script.headers
    assert {name.lower(): value for name, value in headers.items()}["authorization"] == "Bearer abc"


def test_connections_are_kept():
    script = Script()
    with SERVERS["rest"](script) as url, Client(url, "m") as client:
        for _ in range(5):
            client.translate(["a"])
        pool = client._server._transport._pool.connection_from_url(url)
        assert (pool.num_connections, pool.num_requests) == (1, 5)


def test_missing_translations_of_a_beam_are_left_out():
    row = {"translation": ["a", "", ""], "score": [-0.5, -1e9, -1e9], "flags": ["loop, x", "", ""]}
    assert read_several(row) == [ServedTranslation("a", -0.5, ("loop", "x"))]
    nothing = {"translation": [""], "score": [-1e9], "flags": [""]}
    assert read_several(nothing) == [ServedTranslation("", -1e9)]


def test_a_failed_request_ends_the_wait_for_one_that_hangs(tmp_path):
    """Not even the end of the process does."""
    code = (
        "import sys; from kformer.serving import Client, ServerError\n"
        "client = Client(sys.argv[1], 'm', batch_size=1, connections=2)\n"
        "try: client.translate(['a', 'b'])\n"
        "except ServerError: print('told')\n"
    )
    with SERVERS["rest"](Script(30.0, 400)) as url:
        start = time.monotonic()
        result = run_python("-c", code, url)
        assert time.monotonic() - start < 20
    assert result.stdout == "told\n", result.stderr


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Paths of a key and of a certificate for localhost, which it signs itself."""
    folder = tmp_path_factory.mktemp("certificate")
    key, signed = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", key, "-out", signed]
    made = subprocess.run(command, capture_output=True, check=False)
    if made.returncode:
        pytest.skip("There is no openssl to make a certificate with.")
    return key, signed


def test_encrypted_connections_need_a_certificate_that_is_trusted(protocol, certificate):
    key, signed = certificate
    if protocol == "rest":
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(signed, key)
    else:
        tls = key.read_bytes(), signed.read_bytes()
    with SERVERS[protocol](Script(), tls) as url:
        assert Client(url, "m", ca_file=str(signed)).translate(["a"]) == ["a"]
        with pytest.raises(OSError, match=r"(?i)certificate|handshake"):
            Client(url, "m", retries=0, timeout=5).translate(["a"])


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    script = Script()
    with SERVERS["rest"](script) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("no_proxy", "inside.invalid")
        assert Client("http://outside.invalid:8501", "m").translate(["a"]) == ["a"]
        with pytest.raises(OSError, match=r"inside\.invalid"):
            Client("http://inside.invalid:8501", "m", retries=0).translate(["a"])
    assert script.headers[0]["Host"] == "outside.invalid:8501"


@pytest.mark.parametrize("name", ["Authorization", "authorization", "Cookie"])
@pytest.mark.parametrize("url", ["http://host:8501", "grpc://host:8500", "http://127.0.0.1.host"])
def test_a_secret_is_not_sent_unencrypted(url, name, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(ValueError, match=r"must be sent encrypted.* Received: url=") as error:
        Client(url, "m", headers={name: "Bearer abc"})
    assert "abc" not in str(error.value)
    Client(url.replace("://", "s://"), "m", headers={name: "Bearer abc"})


def test_no_proxy_is_asked_for_a_server_on_this_machine(monkeypatch):
    script = Script()
    with SERVERS["rest"](script) as url:
        monkeypatch.setenv("http_proxy", "http://outside.invalid:8501")
        monkeypatch.setenv("no_proxy", "")
        assert Client(url, "m", headers={"Cookie": "a"}, retries=0).translate(["a"]) == ["a"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host", "must be as http://host:8501"),
        ("http://", "must be as http://host:8501"),
        ("http://host:port", "must be as http://host:8501"),
        ("http://host:99999", "must be as http://host:8501"),
        ("", "must be as http://host:8501"),
        ("host", "must be as http://host:8501"),
        ("host:9000", "must be as http://host:8501"),
        ("grpc://host:8500/path", "has a port and no path"),
        ("http://user:secret@host", "neither user nor query"),
        ("http://host?x=1", "neither user nor query"),
    ],
)
def test_a_malformed_url_is_refused(url, message):
    with pytest.raises(ValueError, match=f"{message}.* Received: url") as error:
        Client(url, "m")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "received"),
    [
        ({"model": ""}, "model=''"),
        ({"version": 1, "label": "stable"}, "version=1, label='stable'"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"connections": 0}, "connections=0"),
        ({"retries": -1}, "retries=-1"),
        ({"headers": {"a": "b\nc: d"}}, "headers="),
        ({"headers": {"ä": "b"}}, "headers="),
    ],
)
def test_invalid_options_are_refused(scheme, options, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        Client(f"{scheme}://127.0.0.1:1", **{"model": "m", **options})


def test_a_missing_certificate_is_refused(scheme, tmp_path):
    with pytest.raises(FileNotFoundError, match="Received: ca_file="):
        Client(f"{scheme}s://127.0.0.1:1", "m", ca_file=str(tmp_path / "none"))


def test_grpc_without_its_packages_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kformer.serving.rpc", None)
    with pytest.raises(ImportError, match=r"pip install 'kformer\[serving\]'"):
        Client("grpc://127.0.0.1:1", "m")
