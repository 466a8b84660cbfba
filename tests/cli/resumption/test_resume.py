"""`kformer translate --resume`, killed and refused."""

import signal
import subprocess
import sys
import time

import pytest

from kformer.cli.terminal import lines
from support import toy

CHUNK = 30
TEXT = "".join(f"{text}\n" for text in ["", *toy.SOURCES] * 4)
COMMAND = (
    "import sys; from kformer.cli import main; from kformer.cli.terminal import lines; "
    f"lines.CHUNK = {CHUNK}; sys.argv[0] = 'kformer'; main()"
)
STOPPED = "kformer: Stopped after line {} of {}. The same command goes on there.\n"


def points_in(journal):
    """The number of points in the journal; -1 if there is none."""
    try:
        return journal.read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return -1


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "translate", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


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
    assert errors.startswith("kformer: Resuming after line ")
    assert {path.name for path in output.parent.iterdir()} == {output.name}
    undisturbed = start(*arguments, "--output", output.with_name("undisturbed"))
    assert undisturbed.wait() == 0
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
@pytest.mark.parametrize("format", ["text", "tsv", "jsonl"])
def test_a_command_that_is_killed_five_times_goes_on(toy_model, format, tmp_path, text):
    if format != "text" and toy_model.suffix != ".keras":
        pytest.skip("An export writes text alone.")
    text.write_text(TEXT * 3)
    options = ("--input", text, "--resume", "--format", format)
    content = check_killed(5, tmp_path / "out", toy_model, *options)
    assert content.count("\n") == 3 * TEXT.count("\n")


@pytest.mark.prove
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_says_how_to_go_on(toy_tflite, text, tmp_path, number):
    output = tmp_path / "out"
    journal = output.with_name("out.kformer-journal")
    arguments = (toy_tflite, "--input", text, "--output", output, "--resume")
    code, errors = interrupted(number, journal, *arguments)
    done = CHUNK * points_in(journal)
    assert (code, errors) == (128 + number, STOPPED.format(done, TEXT.count("\n")))


def test_lines_are_numbered_in_the_whole_text(command, monkeypatch, toy_keras, written, tmp_path):
    """In TSV, and in warnings; every form of text is read."""
    monkeypatch.setattr(lines, "CHUNK", 2)
    content = "wir\nuns\n" * 2 + "hund " * 99 + "\nein kind\n"
    text, output = written("text.de", content), tmp_path / "out"
    options = ("--input", text, "--output", output, "--format", "tsv", "--resume")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        points = iter([None, None, KeyboardInterrupt])
        patch.setattr(lines, "_of_lines", lines._of_lines)
        patch.setattr(
            "kformer.cli.resumption.resume.written", _raising_at(5, "kformer.cli.resumption.resume")
        )
        assert command("translate", toy_keras, *options).returncode == 130
