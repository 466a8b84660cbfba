"""The program of `native/translate.cc`: how to compile it, what it reads and what it writes."""

import subprocess
from pathlib import Path
from typing import NamedTuple

import ai_edge_litert
import pytest

from support.native.compiling import compiled

RUNTIME = Path(ai_edge_litert.__file__).parent / "libLiteRt.so"


def compiled_program(folder):
    """Returns the path of the program, in `folder`; skips the test without LiteRT's library."""
    if not RUNTIME.is_file():
        pytest.skip("LiteRT's package has no library here.")
    return compiled("translate", folder, RUNTIME, f"-Wl,-rpath,{RUNTIME.parent}")


class Answer(NamedTuple):
    """What the program says of a text."""

    truncated: int
    score: float
    source_ids: list  # with padding
    text: str


def answers(command, file, texts) -> list[Answer]:
    """Returns an `Answer` for each of `texts`.

    Args:
        command: The program, or a list: what runs it, and the program.
        file: The `.tflite` file.
        texts: list of byte strings.
    """
    command = command if isinstance(command, list) else [command]
    source = b"".join(b"%d\n%b" % (len(text), text) for text in texts)
    done = subprocess.run([*command, file], input=source, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *written, last = done.stdout.decode().split("\0")
    assert (len(written), last) == (len(texts), "")
    return [_read(answer) for answer in written]


def _read(answer):
    truncated, score, ids, text = answer.split(" ", 3)
    return Answer(int(truncated), float(score), [int(i) for i in ids.split(",")], text)
