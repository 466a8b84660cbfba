"""`kformer identify`."""

import functools
import json
from enum import StrEnum
from typing import Annotated

import typer

import kformer
from kformer.cli.terminal.line_streams import (
    Input,
    Output,
    Texts,
    check_output,
    in_chunks,
    one_source,
    text_in,
    writing,
)


class IdentificationFormat(StrEnum):
    """Formats of an answer."""

    tsv = "tsv"
    jsonl = "jsonl"


def identify(
    texts: Texts = None,
    input: Input = None,
    output: Output = None,
    languages: Annotated[
        str | None,
        typer.Option(help="The languages that are possible, such as de,fr; by default all."),
    ] = None,
    format: Annotated[
        IdentificationFormat,
        typer.Option(
            help="tsv: the language and its probability; jsonl: the other candidates, too."
        ),
    ] = IdentificationFormat.tsv,
):
    """Write the language of each line of text and, after a tab, its probability.

    "und" stands for a line in no known language, "mul" for one in several. Text is TEXT, --input,
    or stdin.
    """
    source = one_source(texts, input)
    check_output(output)
    possible = None if languages is None else languages.split(",")
    kformer.identify([], possible)
    lines, total, pauses = text_in(source)
    work = functools.partial(_identify, possible)
    results = in_chunks(work, lines, total, label="Identifying", pauses=pauses)
    with writing(output) as file:
        for answer in results:
            line = f"{answer.language}\t{answer.confidence:.4f}"
            if format == IdentificationFormat.jsonl:
                line = json.dumps(answer._asdict())
            file.write(f"{line}\n".encode())


def _identify(possible, lines, progress):
    answers = kformer.identify(lines, possible)
    progress(len(lines))
    return answers
