"""How far a command is, how fast, and how long it will take."""

import io
import sys
import tracemalloc

import pytest

from kformer.cli.terminal import progress_line as module
from kformer.cli.terminal.line_streams import in_chunks, lines_to_translate
from kformer.cli.terminal.progress_line import ProgressLine, time_left, waiting


@pytest.fixture
def clock(monkeypatch):
    """A list of one time, which tests set."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_a_line_every_minute(clock, capsys):
    with ProgressLine("Translating", total=50_000, done=20_000, in_log=True) as progress:
        for seconds in (150, 159, 160, 190, 230):
            clock[0] = seconds
            progress.update(1_000)
    # 3,000 lines in 60 s are 50 a second; those that were done before are not among them.
    assert capsys.readouterr().err.splitlines() == [
        "kformer: Translating: 23,000 of 50,000 lines, 50 lines/s, 9 min 0 s left",
        "kformer: Translating: 25,000 of 50,000 lines, 38 lines/s, 10 min 50 s left",
    ]


def test_without_a_terminal_it_is_silent_unless_there_is_a_log(clock, capsys):
    with ProgressLine("Translating", total=10) as progress:
        clock[0] = 999.0
        progress.update(10)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("total", "end"), [(400, ", 0 min 8 s left"), (None, "")])
def test_a_terminal_shows_lines_and_speed(clock, monkeypatch, total, end):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressLine("Scoring", total, done=50) as progress:
        progress.read(100)
        clock[0] += 10
        progress.update(200)
        shown = sys.stderr.getvalue().split("\r")[-1]
    if total:
        assert "250/400" in shown
    assert "Scoring" in shown and f"20 lines/s{end}" in shown


@pytest.mark.parametrize("columns", [20, 40, 60, 61, 72, 79, 80, 81, 120, 200])
@pytest.mark.parametrize("label", ["Translating", "Asking the teachers"])
def test_the_bar_never_wraps(clock, monkeypatch, columns, label):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))
    with ProgressLine(label, total=12_000_000, done=2_000_000) as progress:
        for _ in range(10):
            clock[0] += 3600
            progress.update(1_000_000)
    lines = sys.stderr.getvalue().split("\r\x1b[2K")[1:]
    assert lines[-1].endswith("\n") and not any("\n" in line for line in lines[:-1])
    assert all(len(line.removesuffix("\n")) < columns for line in lines)
    if columns >= 60:
        assert "12,000,000/12,000,000" in lines[-1] and "0 min 0 s left" in lines[-1]
    if columns >= 120:
        assert f"[{'#' * 36}]" in lines[-1] and "278 lines/s" in lines[-1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (6.6, "0 min 7 s"),
        (3_599.4, "59 min 59 s"),
        (3_599.6, "1 h 0 min"),
        (86_399.7, "1 d 0 h"),
        (200_000, "2 d 7 h"),
    ],
)
def test_time_left_in_two_units(seconds, text):
    assert time_left(seconds) == text


def test_a_file_is_not_held_in_memory(tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)))
    tracemalloc.start()
    try:
        lines, total, _ = lines_to_translate(path)
        results = in_chunks(lambda part, progress: part, lines, total)
        assert sum(1 for _ in results) == total == 100_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000 < path.stat().st_size


def test_a_terminal_shows_what_is_waited_for_and_then_nothing_of_it(monkeypatch):
    for stream in (log := io.StringIO(), terminal := Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(OSError), waiting("Reading the text"):
            assert terminal.getvalue() in ("", "Reading the text ...\r")
            raise OSError
    assert log.getvalue() == ""
    # Written at once, and then cleared from the first column.
    assert terminal.getvalue() == "Reading the text ...\r\r\x1b[2K"
