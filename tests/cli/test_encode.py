"""`kformer encode`: a vector for each line."""

import os
import re
import threading

import numpy as np
import pytest

from support import toy

LINES = [*toy.SOURCES[:20], "", "wir"]


@pytest.mark.prove
def test_every_line_has_its_vector(toy_keras, toy_translator, tmp_path):
    """In a process of its own, so that it shows what libraries write on stderr."""
    text, output = tmp_path / "de", tmp_path / "new" / "vectors.npy"
    text.write_text("".join(f"{line}\n" for line in LINES), "utf-8")
    result = toy.run_command("encode", toy_keras, "--input", text, "--output", output)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    vectors = np.load(output)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(LINES), 32))
    np.testing.assert_allclose(vectors, toy_translator.encode(LINES), atol=1e-5)
    assert [path.name for path in output.parent.iterdir()] == ["vectors.npy"]


@pytest.mark.sample(3)
def test_every_form_encodes(command, toy_model, toy_translator, tmp_path):
    output = tmp_path / "vectors.npy"
    result = command("encode", toy_model, "--output", output, stdin="\n".join(LINES).encode())
    assert (result.returncode, result.stderr) == (0, "")
    np.testing.assert_allclose(np.load(output), toy_translator.encode(LINES), atol=1e-4)


def test_it_reads_stdin_which_may_have_no_line(command, toy_keras, toy_translator, tmp_path):
    output = tmp_path / "vectors.npy"
    for lines in (["wir"], []):
        result = command("encode", toy_keras, "--output", output, stdin="\n".join(lines).encode())
        assert result.returncode == 0
        np.testing.assert_allclose(np.load(output), toy_translator.encode(lines), atol=1e-5)


@pytest.mark.prove
def test_it_writes_to_a_pipe(command, toy_keras, tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    result = command("encode", toy_keras, "--output", pipe, stdin=b"wir")
    reader.join()
    assert result.returncode == 0
    assert read[0].startswith(b"\x93NUMPY")


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_a_line_over_the_limit_is_encoded_in_part_and_said_so(command, toy_keras, tmp_path):
    stdin = b"wir\n" + b"wir " * 300
    result = command("encode", toy_keras, "--output", tmp_path / "vectors.npy", stdin=stdin)
    assert result.returncode == 0
    pattern = r"^kformer: Line 2 has \d+ ids, over the limit of 256: .* were encoded\.$"
    assert re.search(pattern, result.stderr, re.MULTILINE)


def test_bad_input_is_one_line_and_writes_nothing(refused, toy_keras, tmp_path):
    output = "--output", tmp_path / "vectors.npy"
    (tmp_path / "text").write_text("wir\n")
    (tmp_path / "broken").write_bytes(b"wir\n\xff\n")
    assert "'--output'" in refused("encode", toy_keras)
    assert "'no.keras'" in refused("encode", "no.keras", *output)
    assert "saved_model.pb" in refused("encode", tmp_path, *output)
    assert "'missing'" in refused("encode", toy_keras, "--input", "missing", *output)
    assert "line 2 is not" in refused("encode", toy_keras, "--input", tmp_path / "broken", *output)
    assert "stdin, where line 1 is not" in refused("encode", toy_keras, *output, stdin=b"\xff")
    message = refused("encode", toy_keras, "--input", tmp_path / "text", "--output", tmp_path)
    assert "The output must be a file." in message
