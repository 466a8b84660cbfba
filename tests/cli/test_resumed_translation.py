"""`kformer translate --resume`, killed and refused."""

import gzip
import signal
import time

import pytest

from kformer.cli.terminal import line_streams as lines
from kformer.cli.unfinished import Unfinished
from support import toy
from support.processes import run_python, started_python

CHUNK = 30
TEXT = "".join(f"{text}\n" for text in ["", *toy.SOURCES] * 4)
COMMAND = (
    "import sys; from kformer.cli import main; from kformer.cli.terminal import line_streams; "
    f"line_streams.CHUNK = {CHUNK}; sys.argv[0] = 'kformer'; main()"
)
STOPPED = "kformer: Stopped after line {} of {}. The same command goes on there.\n"


def points_in(journal):
    """The number of points in the journal; -1 if there is none."""
    try:
        return journal.read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return -1


def start(*arguments):
    return started_python("-c", COMMAND, "translate", *arguments)


def interrupted(number, journal, *arguments):
    """Starts the command and sends it a signal once it has got on; returns its code and stderr."""
    before = max(points_in(journal), 0)
    process = start(*arguments)
    while points_in(journal) <= before and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(number)
    _, errors = process.communicate()
    return process.returncode, errors


def check_killed(times, output, *arguments):
    """Kills the command; then it must write what it writes undisturbed."""
    journal = output.with_name(f"{output.name}.kformer-journal")
    for _ in range(times):
        code, errors = interrupted(signal.SIGKILL, journal, *arguments, "--output", output)
        assert code == -signal.SIGKILL, errors
        assert not output.exists() and points_in(journal) > 0
    process = start(*arguments, "--output", output)
    _, errors = process.communicate()
    assert process.returncode == 0
    assert errors.startswith("kformer: Resuming after ")
    assert {path.name for path in output.parent.iterdir()} == {output.name}
    run_python("-c", COMMAND, "translate", *arguments, "--output", output.with_name("undisturbed"))
    assert output.read_bytes() == output.with_name("undisturbed").read_bytes()
    return output.read_text("utf-8")


@pytest.fixture
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.de"
    path.write_text(TEXT)
    return path


def test_a_command_that_is_killed_goes_on(toy_tflite, text, tmp_path):
    content = check_killed(1, tmp_path / "out", toy_tflite, "--input", text, "--resume")
    assert content.count("\n") == TEXT.count("\n")


@pytest.mark.prove
def test_a_command_that_is_killed_again_and_again_goes_on(toy_model, tmp_path, text):
    text.write_text(TEXT * 5)
    numbered = ("--format", "tsv") if toy_model.suffix == ".keras" else ()
    options = ("--input", text, "--resume", *numbered)
    times = 5 if toy_model.suffix == ".tflite" else 2  # The others load TensorFlow each time.
    content = check_killed(times, tmp_path / "out", toy_model, *options)
    assert content.count("\n") == 5 * TEXT.count("\n")


@pytest.mark.prove
def test_a_document_that_is_killed_goes_on(toy_tflite, tmp_path_factory, tmp_path):
    page = tmp_path_factory.mktemp("page") / "a.md"
    texts = [f"{first} {second}" for first in toy.SOURCES for second in toy.SOURCES[:40]]
    page.write_text("\n\n".join(texts))
    content = check_killed(2, tmp_path / "out.md", toy_tflite, "--input", page, "--resume")
    assert content.count("\n\n") == len(texts) - 1


@pytest.mark.prove
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_says_how_to_go_on(toy_tflite, text, tmp_path, number):
    text.write_text(TEXT * 5)  # Not at its end before the signal comes.
    output = tmp_path / "out"
    journal = output.with_name("out.kformer-journal")
    arguments = (toy_tflite, "--input", text, "--output", output, "--resume")
    code, errors = interrupted(number, journal, *arguments)
    done = CHUNK * points_in(journal)
    assert code == 128 + number
    assert errors.endswith(STOPPED.format(done, 5 * TEXT.count("\n")))


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_lines_are_numbered_in_the_whole_text(command, monkeypatch, toy_keras, written, tmp_path):
    """In TSV and in warnings; here of a compressed text."""
    append = Unfinished.append

    def append_and_stop(self, *chunk):
        append(self, *chunk)
        if self.lines == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(lines, "CHUNK", 2)
    content = "\n".join([*toy.SOURCES[:4], "hund " * 99, toy.SOURCES[4]])
    text, output = written("text.gz", gzip.compress(content.encode())), tmp_path / "out"
    arguments = ("translate", toy_keras, "--input", text, "--format", "tsv", "--output")
    undisturbed = command(*arguments, tmp_path / "undisturbed")
    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "append", append_and_stop)
        stopped = command(*arguments, output, "--resume")
    assert (stopped.returncode, stopped.stderr) == (130, STOPPED.format(4, 6))
    resumed = command(*arguments, output, "--resume")
    assert resumed.returncode == 0
    assert resumed.stderr == "kformer: Resuming after line 4 of 6.\n" + undisturbed.stderr
    assert undisturbed.stderr.startswith("kformer: Line 5 has ")
    assert output.read_bytes() == (tmp_path / "undisturbed").read_bytes()


@pytest.mark.parametrize("given", [["--output"], ["--input"], ["--input", "--output"]])
def test_text_and_output_must_be_files(refused, toy_keras, written, given):
    paths = {"--input": written("text", "wir\n"), "--output": "/dev/null"}
    arguments = [part for name in given for part in (name, paths[name])]
    message = refused("translate", toy_keras, "--resume", *arguments, stdin=b"wir\n")
    assert "--resume needs the text in a file, --input, and a file to write" in message
    input, output = (repr(str(paths[name])) if name in given else None for name in paths)
    assert message.endswith(f"Received: input={input}, output={output}.")


@pytest.mark.prove
# The traceback of the interruption holds the open files until the garbage collector finds it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_only_the_same_command_goes_on(command, refused, monkeypatch, toy_keras, written, tmp_path):
    append, content = Unfinished.append, "\n".join(toy.SOURCES[:4])
    text, prefix = written("text", content), written("prefix", "the dog\n\n\n\n")
    model = written("model.keras", toy_keras.read_bytes())
    files = ("--input", text, "--prefix", prefix, "--output", tmp_path / "out")

    def append_and_stop(self, *chunk):
        append(self, *chunk)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lines, "CHUNK", 2)
        patch.setattr(Unfinished, "append", append_and_stop)
        assert command("translate", model, *files, "--resume").returncode == 130

    def received(*arguments):
        message = refused("translate", model, *files, "--resume", *arguments)
        assert message.startswith("kformer: --resume needs the model, the text and the options ")
        assert message.endswith(f"; journal '{tmp_path / 'out.kformer-journal'}'.")
        return message.partition("Received: ")[2].partition(";")[0]

    assert received("--format", "tsv") == "format=tsv instead of text"
    assert received("--beam-size", 3, "--length-penalty", 1) == (
        "beam_size=3 instead of 1, length_penalty=1.0 instead of 0.6"
    )
    assert received("--ensemble", toy_keras) == "another --ensemble 1"
    terms = ("--glossary", written("terms.tsv", "hund\thound\n"))
    without = [part for part in files if part not in ("--prefix", prefix)]
    message = refused("translate", model, *without, "--resume", *terms)
    assert "Received: another --prefix, another --glossary;" in message
    for path, what in ((text, "another --input"), (prefix, "another --prefix")):
        before = path.read_bytes()
        path.write_bytes(before.replace(b"\n", b" \n"))
        assert received() == what
        path.write_bytes(before)
    model.write_bytes(toy_keras.read_bytes() + b"\0")
    assert received() == "another model"
    model = toy_keras  # What counts is the content, not the name.
    assert command("translate", model, *files, "--resume", "--beam-size", 1).returncode == 0
    assert (tmp_path / "out").read_text().count("\n") == 4
