"""Standard streams that are closed: one line, or silence, and never a message inside a file."""

import subprocess
import sys

import pytest

NEEDED = "kformer: A standard stream that the command needs must be open."


def run(closed, *arguments, stdin=b""):
    command = [sys.executable, "-m", "kformer", *map(str, arguments)]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
    return subprocess.run(shell, input=stdin, capture_output=True, timeout=120, check=False)


@pytest.mark.sample(8)
@pytest.mark.parametrize("arguments", [["--help"], ["no-command"]], ids=" ".join)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_command_ends_in_a_traceback(closed, arguments):
    result = run(closed, *arguments)
    is_read = ">&-" not in closed.replace("2>&-", "")
    assert result.returncode == (0 if is_read and arguments == ["--help"] else 2)
    lines = result.stderr.decode().splitlines()
    assert len(lines) <= 1
    if arguments == ["--help"] and not is_read and "2>&-" not in closed:
        assert lines == [NEEDED]


@pytest.mark.prove
def test_a_translation_is_not_mixed_with_messages(toy_keras, tmp_path):
    output = tmp_path / "output"
    arguments = ["translate", toy_keras, "--output", output]
    text = b"wir ruft uns . " * 99 + b"\n"
    assert run("2>&-", *arguments, stdin=text).returncode == 0
    [line] = output.read_text().splitlines()
    assert "kformer" not in line and "limit" not in line
    output.unlink()
    result = run("<&-", *arguments)
    assert (result.returncode, result.stderr.decode().splitlines()) == (2, [NEEDED])
    assert [path.name for path in tmp_path.iterdir()] == []
