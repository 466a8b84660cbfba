"""The table of `make bench-firefox`, its count of processor time, and a round of a contender."""

import json
import subprocess
import sys
import time

import pytest

from benchmarks.contender import ContenderFailed
from benchmarks.firefox import __main__ as bench
from benchmarks.firefox import report
from benchmarks.firefox.contenders import FX, TFLITE, process_of, with_seconds
from benchmarks.firefox.processor import processor_seconds
from benchmarks.page.contenders import Sentences

REFERENCES = ["the dog runs home now", "a cat sees the other dog"]


def rounds_of(*seconds, texts=REFERENCES):
    return [
        with_seconds(
            {"start": time, "load": time / 2, "one": [time] * 3, "one_cpu": 3 * time}
            | {"bulk": time, "bulk_cpu": 2 * time, "one_bytes": 60e6, "bulk_bytes": 70e6}
            | {"texts": ["first", *texts]}
        )
        for time in seconds
    ]


def test_the_table_has_the_medians_of_the_rounds():
    measured = {TFLITE: rounds_of(0.02, 0.01, 0.09)}
    header, _, line = report.table(measured, REFERENCES, {TFLITE: 20_100_000})
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert len(cells) == header.count("|") - 1
    assert cells[0] == TFLITE and cells[1] == "100.00"
    assert cells[3:8] == ["20.0", "20.0", "20.0", "10.0", "20.0"]
    assert cells[8:] == ["0.02", "0.01", "60", "70", "20.1"]


def test_what_is_not_measured_is_a_dash():
    rounds = rounds_of(1)
    for name in ("one_cpu", "bulk_cpu", "one_bytes", "bulk_bytes"):
        del rounds[0][name]
    line = report.table({"page": rounds}, REFERENCES, {})[-1]
    assert line.split("|").count(" - ") == 5


def test_ratios_are_of_rounds_beside_each_other():
    measured = {TFLITE: rounds_of(1, 2, 3), FX: rounds_of(2, 8, 6)}
    one, start = report.ratios(measured)
    assert one == (
        f"one sentence, processor time: {TFLITE} takes 0.50 of {FX}'s; by round 0.25 to 0.50"
    )
    assert start.startswith("start to the first answer")


def test_processor_time_counts_children_that_run():
    spin = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    before = processor_seconds()
    process = subprocess.Popen(
        [sys.executable, "-c", spin], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    running = processor_seconds() - before
    process.communicate(b"\n")
    assert running > 0.28  # Ticks of 10 ms.
    assert processor_seconds() - before >= running - 0.02  # Its parent counts it then.
    assert processor_seconds(process.pid) == 0


def test_a_round_is_a_process_that_reports_all_that_is_shown(tmp_path, toy_tflite):
    (tmp_path / "translator.tflite").write_bytes(toy_tflite.read_bytes())
    sentences = Sentences("wir ruft uns.", ["der hund.", "die katze."], ["wir.", "der hund ruft."])
    place = tmp_path / "sentences.json"
    place.write_text(json.dumps(sentences), "utf-8")
    contender = process_of(TFLITE, tmp_path, tmp_path, place, {0}, None)
    begun = time.monotonic()
    measured = contender.round()
    assert 0 < measured["load"] < measured["start"] < measured["seconds"]
    assert measured["seconds"] < time.monotonic() - begun
    assert len(measured["one"]) == 2 and len(measured["texts"]) == 5
    assert measured["one_bytes"] <= measured["bulk_bytes"]
    assert len(report.table({TFLITE: [measured]}, sentences.together, {})) == 3
    (tmp_path / "translator.tflite").unlink()
    with pytest.raises(ContenderFailed, match=r"FileNotFoundError: .*translator\.tflite"):
        contender.round()


def test_engines_that_are_not_installed_are_left_out(monkeypatch, capsys):
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: None)
    assert not bench.is_installed(FX)
    assert "fxtranslate is left out" in capsys.readouterr().out


def test_models_that_are_not_installed_are_named(tmp_path, monkeypatch, capsys):
    text = tmp_path / "a.en"
    text.write_text("a\n", "utf-8")
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.argv", ["bench", "--source", str(text), "--target", str(text)])
    with pytest.raises(SystemExit) as end:
        bench.main()
    assert end.value.code == 2
    assert "[published]" in capsys.readouterr().err
