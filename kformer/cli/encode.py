"""`kformer encode`."""

import io
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.common_models import AnyModel, TargetLanguage, open_able_to
from kformer.cli.terminal.line_streams import (
    check_output,
    file_or_standard,
    in_chunks,
    lines_to_translate,
    writing,
)


def encode(
    model: AnyModel,
    output: Annotated[Path, typer.Option(help="NumPy file to write, .npy.")],
    input: Annotated[Path | None, file_or_standard("Text to encode; by default stdin.")] = None,
    target_language: TargetLanguage = None,
):
    """Write a vector for each line of text, for comparing lines.

    The file contains a float32 array with a row for each line: the mean of the encoder's output
    over the pieces and the end id. A blank line has one, too.
    """
    if output.suffix != ".npy" and (output.is_file() or not output.exists()):  # No pipe.
        raise ValueError(f"The file's name must end in .npy. Received: output={str(output)!r}.")
    check_output(output)
    lines, total, _ = lines_to_translate(input)
    encoder = open_able_to("encode", model, target_language)

    import numpy as np

    rows = in_chunks(encoder.encode, lines, total, label="Encoding")
    content = io.BytesIO()  # NumPy cannot write to a pipe.
    np.save(content, np.vstack([encoder.encode([]), *rows]))  # (N, D), also for no lines.
    with writing(output) as file:
        file.write(content.getbuffer())
