"""A language model writes the line breaks that it has learned, in all forms."""

import pytest

import kformer
from kformer.export import export_saved_model, export_tflite
from support.fixtures.language_model import VERSES

FIRST_LINES = [*VERSES]
WHOLE = ["\n".join(verse) for verse in VERSES.items()]
BEGUN = WHOLE[2].removesuffix("\tkein dach.")
PROMPTS = [*FIRST_LINES, *(f"{first}\n" for first in FIRST_LINES), BEGUN]
EXPECTED = [*WHOLE, *WHOLE, WHOLE[2]]


@pytest.mark.prove
def test_the_second_line_follows_from_the_first(model_of_verses):
    model = kformer.load(model_of_verses)
    assert model.generate(PROMPTS) == EXPECTED
    likely, unlikely = model.score([WHOLE[0], WHOLE[0].replace("\n", " ")])
    assert likely.log_probability > unlikely.log_probability + 1


@pytest.mark.prove
def test_exports_write_the_same_lines(model_of_verses, tmp_path):
    model = kformer.load(model_of_verses)
    served = export_saved_model(model, tmp_path / "served", examples=FIRST_LINES)
    limits = {"max_source_length": 16, "examples": FIRST_LINES}
    in_file = export_tflite(model, tmp_path / "language_model.tflite", **limits)
    for form in (served, in_file):
        assert kformer.load(form).generate(PROMPTS) == EXPECTED
    ends = [prompt.replace("\n", "\r\n") for prompt in PROMPTS]
    for form in (model_of_verses, served, in_file):
        assert kformer.load(form).generate(ends) == EXPECTED


@pytest.mark.prove
@pytest.mark.parametrize(
    ("documents", "stdin", "answers"),
    [
        ("line", "".join(f"{one}\n" for one in FIRST_LINES), "".join(f"{one}\n" for one in WHOLE)),
        ("blank-line", "\n\n".join(FIRST_LINES), "".join(f"{one}\n\n" for one in WHOLE)),
        ("file", BEGUN, f"{WHOLE[2]}\n"),
    ],
)
def test_the_command_line_writes_line_breaks(command, model_of_verses, documents, stdin, answers):
    options = ("--documents", documents)
    result = command("lm", "generate", model_of_verses, *options, stdin=stdin.encode())
    assert (result.stdout, result.returncode) == (answers, 0)


@pytest.mark.prove
def test_documents_are_scored_whole(command, model_of_verses, written):
    text = written("text.txt", "\n\n".join(WHOLE))
    arguments = ("--text", text, "--documents", "blank-line", "--summary")
    result = command("lm", "score", model_of_verses, *arguments)
    tokens = sum(len(one.tokens) for one in kformer.load(model_of_verses).score(WHOLE))
    size = sum(len(one.encode()) + 1 for one in WHOLE)
    assert f"of {tokens} tokens in 3 documents" in result.stdout
    assert f"per byte of {size}," in result.stdout
