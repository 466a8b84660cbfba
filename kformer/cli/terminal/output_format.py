"""Answers of a search as text, TSV or JSON lines, and warnings about degenerate answers."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from kformer.cli.terminal.line_streams import one_line, writing
from kformer.cli.terminal.streams import remark

_WHAT_FLAGS_SAY = {
    "length limit": "was cut at its largest length",
    "loop": "repeats itself",
    "length ratio": "has a length that is absurd for its source",
    "term missed": "lacks a term of the glossary",
    "term unlikely": "has a term of the glossary that does not fit",
    "number missed": "lacks a number of its source",
    "address missed": "lacks an address of its source",
    "placeholder missed": "lacks a placeholder of its source",
    "bracket missed": "lacks a bracket of its source",
    "unknown characters": "lacks characters that the model does not know",
    "copied": "is its source",
    "unsure": "is a guess",
}
_FIELDS = (  # Of JSON lines, as far as they are known.
    "text",
    "score",
    "flags",
    "quality",
    "prompt_tokens",
    "tokens",
    "token_log_probabilities",
    "source_tokens",
    "alignment",
    "word_alignment",
)


class OutputFormat(StrEnum):
    """Formats of an answer."""

    text = "text"
    tsv = "tsv"
    jsonl = "jsonl"


def check_format(format: Any, n_best: int):
    """Refuses several answers to a line in a format without line numbers."""
    if n_best > 1 and format == OutputFormat.text:
        raise ValueError(
            "Several answers to a line need --format tsv or jsonl, which tell them apart. "
            f"Received: n_best={n_best}, format=text."
        )


def write_answers(
    results: Any,
    format: Any,
    output: Any,
    what: str = "translation",
    expected: Sequence = (),
    as_text: Any = None,
):
    """Writes the answers to each line, best first, and warns of degenerate ones on stderr.

    Args:
        output: Path of the file to write, None for stdout.
        as_text: Function from an answer to the output of `OutputFormat.text`; by default it is
            written on one line.
    """
    with writing(output) as out:
        for number, answers in enumerate(results, start=1):
            out.write(written(number, answers, format, what, expected, as_text))


def written(
    number: int,
    answers: Any,
    format: Any,
    what: str = "translation",
    expected: Sequence = (),
    as_text: Any = None,
):
    """Returns the bytes for the answers to line `number`, like `write_answers`."""
    warn_of_flags(number, answers[0], what, expected)
    if as_text and format == OutputFormat.text:
        return as_text(answers[0].text).encode("utf-8")
    return "".join(f"{line}\n" for line in _lines(format, number, answers)).encode("utf-8")


def _lines(format, number, answers):
    """Yields the lines for the answers to line `number`, best first.

    Text has the best alone. TSV has the line's number, the score and the text; JSON lines have
    all that is known.
    """
    if format == OutputFormat.text:
        yield one_line(answers[0].text)
        return
    for answer in answers:
        if format == OutputFormat.tsv:
            yield f"{number}\t{answer.score:.4f}\t{one_line(answer.text).replace(chr(9), ' ')}"
        else:
            yield json.dumps(_fields(number, answer), ensure_ascii=False)


def _fields(number, answer):
    fields = {name: getattr(answer, name, None) for name in _FIELDS}
    return {"line": number} | {name: value for name, value in fields.items() if value is not None}


def warn_of_flags(number: int, best: Any, what: str = "translation", expected: Sequence = ()):
    """Warns on stderr of the flags of the best answer to line `number`, if it has any."""
    flags = [flag for flag in best.flags if flag in _WHAT_FLAGS_SAY and flag not in expected]
    if flags:
        wrong = ", ".join(_WHAT_FLAGS_SAY[flag] for flag in flags)
        remark(f"Line {number}: its {what} {wrong}.")
