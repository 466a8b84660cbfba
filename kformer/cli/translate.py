"""`kformer translate`."""

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.lines import translate_lines
from kformer.cli.model import AnyModel, BeamSize, LengthPenalty, open_model, what_is
from kformer.files import replacing
from kformer.training.text_files import decoded, read_lines


def translate(
    model: AnyModel,
    input: Annotated[Path | None, typer.Option(help="Text to translate, else stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to write, else stdout.")] = None,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
):
    """Translate text, a line for a line."""
    what_is(model)
    if output and output.is_dir():
        raise IsADirectoryError(f"The output must be a file. Received: folder {str(output)!r}.")
    if input:
        lines = list(read_lines(input))
        total = len(lines)
    else:
        lines, total = decoded(sys.stdin.buffer, "stdin"), None
    translations = translate_lines(open_model(model, beam_size, length_penalty), lines, total)
    with contextlib.ExitStack() as stack:
        out = sys.stdout.buffer
        if output:
            out = stack.enter_context(stack.enter_context(replacing(output)).open("wb"))
        for translation in translations:
            out.write(translation.encode("utf-8") + b"\n")
        out.flush()
