"""The load of `make bench-serve`, against a server whose answers are known."""

import asyncio
import contextlib
import json
import os
import subprocess
import time
import urllib.request
import zipfile

import pytest

from benchmarks.preparation import prepare
from benchmarks.server.language_pairs import (
    PACKAGES,
    TARGETS,
    requests_for,
    serving_with_kformer,
    serving_with_libretranslate,
)
from benchmarks.server.load import Load, percentile, prediction_request
from benchmarks.server.servers import (
    BatchedModel,
    peak_bytes,
    processor_seconds,
    resident_bytes,
)
from benchmarks.server.write_pairs import write_packages
from support import toy
from support.native.compiling import compiled
from support.native.saved_model_program import command, tensorflow_arguments


@contextlib.asynccontextmanager
async def serving(received):
    """Yields the port of a server, which refuses the text "no"."""

    async def answer(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                [text] = json.loads(await reader.readexactly(length))["instances"]
                received.append(text)
                status = b"400 Bad Request" if text == "no" else b"200 OK"
                writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def test_each_line_is_sent_in_turn_and_what_is_refused_is_counted():
    received = []

    async def run():
        async with serving(received) as port:
            requests = [prediction_request(line) for line in ("a", "no", "ü")]
            return await Load(port, requests, connections=4).run(requests=30)

    result = asyncio.run(run())
    assert sorted(received) == sorted(["a", "no", "ü"] * 10)
    assert (len(result.latencies), result.failed) == (20, 10)
    assert 0 < max(result.latencies) <= result.seconds
    assert result.speed == pytest.approx(20 / result.seconds)


def test_time_and_memory_of_a_process_are_those_of_the_system():
    before, began = processor_seconds(os.getpid()), time.process_time()
    while time.process_time() < began + 0.3:
        pass
    assert processor_seconds(os.getpid()) - before > 0.27  # It counts in hundredths.
    kept = bytes(range(256)) * 2**18  # 64 MiB.
    assert resident_bytes(os.getpid()) > len(kept)
    del kept
    assert peak_bytes(os.getpid()) > 64 * 2**20


def test_percentiles_are_values_that_occurred():
    values = [float(value) for value in range(100, 0, -1)]
    assert [percentile(values, share) for share in (1, 50, 95, 100)] == [1, 50, 95, 100]
    assert percentile([7.0], 95) == 7


def test_requests_are_for_all_pairs_before_one_comes_again():
    assert len({*TARGETS}) == 20
    lines = [f"sentence {i}" for i in range(60)]
    bodies = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in requests_for(lines, 20)]
    assert [body["q"] for body in bodies] == lines
    orders = [[body["target"] for body in bodies[i : i + 20]] for i in (0, 20, 40)]
    assert [sorted(order) for order in orders] == [sorted(TARGETS)] * 3
    assert orders[0] != orders[1] != orders[2]


def test_a_package_is_installed_for_each_pair(tmp_path):
    package = tmp_path / "pair.argosmodel"
    facts = {"from_code": "de", "to_code": "en", "to_name": "English"}
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("kformer-de_en/metadata.json", json.dumps(facts))
        archive.writestr("kformer-de_en/model/model.bin", b"weights")
    write_packages(package, tmp_path / "packages", ["en", "fr"])
    for code, name in (("en", "English"), ("fr", "French")):
        folder = tmp_path / "packages" / code
        assert (folder / "model" / "model.bin").read_bytes() == b"weights"
        written = json.loads((folder / "metadata.json").read_text("utf-8"))
        assert written == {"from_code": "de", "to_code": code, "to_name": name}


def test_a_libretranslate_that_ends_is_named_with_its_error(tmp_path):
    command = tmp_path / "libretranslate"
    command.write_text("#!/bin/sh\necho 'ImportError: no flask' >&2\nexit 1\n")
    command.chmod(0o755)
    with (
        pytest.raises(SystemExit, match="bench-serve: LibreTranslate: ImportError: no flask"),
        serving_with_libretranslate(command, tmp_path, [], beams=1),
    ):
        pass


@pytest.mark.prove
def test_kformer_serves_every_pair_that_is_written(toy_keras, tmp_path):
    written = [str(tmp_path), str(toy_keras), "int8", "1", "3"]
    prepare("test", "benchmarks.server.write_pairs", written)
    requests = requests_for(toy.SOURCES[:9], 3)
    with serving_with_kformer("kformer", tmp_path, requests, []) as server:
        result = server.measure(2, seconds=0.5)
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics").read().decode()
    assert result.failed == 0
    assert all(f'model="{target}"' in metrics for target in TARGETS[:3])
    assert sorted(path.name for path in (tmp_path / PACKAGES).iterdir()) == sorted(TARGETS[:3])


@pytest.mark.prove
def test_a_batched_saved_model_answers_every_client_as_alone(toy_saved_model, tmp_path, capsys):
    program = compiled("load_saved_model", tmp_path, *tensorflow_arguments())
    texts = toy.SOURCES[:20]
    process = subprocess.Popen(
        command(program, toy_saved_model),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        print(len(texts), *texts, sep="\n", file=process.stdin, flush=True)
        model = BatchedModel(process)
        for clients in (1, 8):
            result = model.measure(clients, 0.5)
            assert result.failed == 0 and len(result.latencies) >= 2 * clients
            assert 0 < max(result.latencies) <= result.seconds
            assert result.seconds * clients > sum(
                result.latencies
            )  # A client waits for each answer.
        process.stdin.close()
    assert process.returncode == 0
    assert "not those of the text alone" not in capsys.readouterr().out
