"""Lines that come slowly are answered at once; lines that come fast are worked on together."""

import contextlib
import io
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.cli.terminal.line_streams import in_chunks, lines_to_translate
from kformer.cli.terminal.streams import Stream
from support import toy


@pytest.fixture
def pipe(monkeypatch):
    """Standard input as a pipe; yields the file to write to."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "wb", buffering=0) as file:
        monkeypatch.setattr("sys.stdin", stdin)
        yield file


def answers(chunks, **text):
    """What comes out of `in_chunks`, which appends the lines of each chunk to `chunks`."""

    def work(lines, progress):
        chunks.append(list(lines))
        return [line.upper() for line in lines]

    lines, total, pauses = lines_to_translate(**text)
    return in_chunks(work, lines, total, pauses=pauses)


def test_a_line_in_gives_a_line_out_before_the_next_line_comes(pipe):
    chunks = []
    found = answers(chunks, input=None)
    for line in ("one", "two", "three"):
        pipe.write(f"{line}\nfo".encode())  # The beginning of another line does not hold it up.
        assert next(found) == line.upper()
        pipe.write(b"ur\n")
        assert next(found) == "FOUR"
    pipe.write(b"last")
    pipe.close()
    assert [*found] == ["LAST"]
    assert chunks[:2] == [["one"], ["four"]]


def test_lines_that_are_there_are_worked_on_together(pipe):
    pipe.write(b"x\n" * 2500)
    pipe.close()
    chunks = []
    assert [*answers(chunks, input=None)] == ["X"] * 2500
    assert [*map(len, chunks)] == [2000, 500]


def test_a_named_pipe_is_read_once_as_it_comes(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)  # Opening it for reading does not wait then.
    found = answers([], input=path)
    os.write(writing, b"ja\n")
    assert next(found) == "JA"
    os.close(writing)
    assert [*found] == []


@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"\n", b"\r\n", b"a\nb"])))
def test_a_stream_has_the_lines_of_a_file_wherever_it_was_cut(pieces):
    reading, writing = os.pipe()
    with contextlib.closing(os.fdopen(reading, "rb")):
        stream = iter(Stream(reading))
        with os.fdopen(writing, "wb", buffering=0) as file:
            for piece in pieces:
                file.write(piece)
        assert [*stream] == io.BytesIO(b"".join(pieces)).readlines()


def path_of(fixture, request):
    """The path that a fixture is, or that the function it is returns."""
    path = request.getfixturevalue(fixture)
    return str(path() if callable(path) else path)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["translate", "toy_tflite"], toy.SOURCES[0]),
        (["translate", "toy_tflite", "--paragraphs"], toy.SOURCES[0]),
        (["translate", "toy_keras", "--format", "tsv"], toy.SOURCES[0]),
        (["classify", "predict", "classifier_tflite"], "wir"),
        (["lm", "generate", "language_model_tflite"], "wir"),
    ],
)
def test_every_command_answers_a_line_before_the_next(request, command, line):
    command = [path_of(word, request) if "_" in word else word for word in command]
    with subprocess.Popen(
        [sys.executable, "-m", "kformer", *command, "--input", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        answered = []
        for _ in range(3):
            process.stdin.write(f"{line}\n")
            answered.append(process.stdout.readline())  # Waits for ever if it does not come.
            time.sleep(0.05)
        process.stdin.close()
        assert process.stdout.read() == ""
    assert all(one.strip() for one in answered) and process.returncode == 0
