"""`kformer translate --paragraphs` and `kformer request --paragraphs`."""

import pytest

from support import toy

TEXT = "\t{0}\r\n\r\n  {1}  \n{2}\u2028{0}\n{1}"  # No line end at the end.
SOURCE = TEXT.format(*toy.SOURCES[:3])
LONG = " ".join(toy.SOURCES).replace(" .", "")  # Over the limit of ids of every form.


@pytest.fixture(scope="module")
def expected(toy_translator):
    return TEXT.format(*toy_translator.translate(toy.SOURCES[:3]))


@pytest.mark.sample(3)
def test_every_form_keeps_white_space_and_line_ends(
    command, toy_model, expected, written, tmp_path
):
    options = ("translate", toy_model, "--paragraphs", "--source-language", "de")
    result = command(*options, stdin=SOURCE.encode())
    assert (result.returncode, result.stdout, result.stderr) == (0, expected, "")
    result = command(*options, "--input", written("de", SOURCE), "--output", tmp_path / "en")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "en").read_bytes() == expected.encode()


@pytest.mark.sample(2)
@pytest.mark.parametrize("protocol", ["rest", "grpc"])
def test_a_server_is_asked_for_sentences(command, toy_server, expected, toy_translator, protocol):
    options = ("request", toy_server.url(protocol), "--paragraphs")
    assert command(*options, stdin=SOURCE.encode()).stdout == expected
    first, second = toy_translator.translate(toy.SOURCES[:2])
    result = command(*options, "\n".join(toy.SOURCES[:2]), f"{toy.SOURCES[0]}\n", "")
    assert result.stdout == f"{first}\n{second}\n{first}\n\n"


def test_sentences_end_by_the_rules_of_the_language(command, toy_tflite, toy_keras):
    """The `.tflite` file has its language; so have exports, but not yet the server's."""
    text = b"am 3. Mai . Wir"
    translated = [
        command("translate", *options, "--paragraphs", stdin=text).stdout
        for options in (
            (toy_tflite,),
            (toy_tflite, "--source-language", "de"),
            (toy_tflite, "--source-language", "en"),
        )
    ]
    assert translated[0] == translated[1] != translated[2]


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_what_is_wrong_is_said_by_line(command, toy_keras):
    result = command("translate", toy_keras, "--paragraphs", stdin=f"\nder\n{LONG}\n".encode())
    assert result.returncode == 0 and result.stdout.startswith("\n")
    said = result.stderr.splitlines()
    assert any(
        "Line 3 has a sentence that is too long for the model: its clauses were" in line
        for line in said
    )
    assert not any("only its first" in line for line in said)


def test_options_that_do_not_go_together_are_refused(refused, toy_keras, toy_tflite, written):
    for options, said in [
        (["--paragraphs", "--format", "tsv"], "--format"),
        (["--paragraphs", "--prefix", written("prefix", "the\n")], "--prefix"),
        (
            ["--paragraphs", "--n-best", "2", "--beam-size", "2", "--format", "jsonl"],
            "--format, --n-best",
        ),
    ]:
        line = refused("translate", toy_keras, *options, stdin=b"wir\n")
        assert line.startswith("kformer: --paragraphs writes text alone")
        assert line.endswith(f" Received: {said}.")
    line = refused("translate", toy_tflite, "--source-language", "de", stdin=b"wir\n")
    assert line == (
        "kformer: --source-language is for --paragraphs. Received: --source-language de alone."
    )
    line = refused("request", "http://127.0.0.1:1", "--paragraphs", "--status")
    assert line.endswith("Received: --status.")


def test_broken_text_is_refused(refused, toy_tflite, written):
    options = ("translate", toy_tflite, "--paragraphs", "--input")
    assert "line 2 is not" in refused(*options, written("broken", b"wir\n\xff\n"))
