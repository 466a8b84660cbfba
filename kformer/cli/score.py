"""`kformer score`."""

import itertools
import math
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from kformer.cli.common_models import KerasModel, TargetLanguage, check_is_keras, open_translator
from kformer.cli.terminal.line_streams import Output, check_output, in_chunks, writing
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel

_CHUNK = 500  # Pairs of lines in memory at once.


def score(
    model: KerasModel,
    source: Annotated[Path, typer.Option(help="Source text.")],
    target: Annotated[Path, typer.Option(help="Its translation, line by line.")],
    output: Output = None,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Print only the perplexity and bits of the whole text."),
    ] = False,
    target_language: TargetLanguage = None,
):
    """Score given translations by their log-probability.

    Prints for each line the natural logarithm of the translation's probability, a tab, and the mean
    per token. The end of the line counts as a token.
    """
    check_is_keras(model, "can score")
    check_output(output)
    total = check_parallel(source, target)
    translator = open_translator(model, target_language)

    def work(pairs, progress):
        return translator.score(*zip(*pairs, strict=True), progress=progress)

    pairs = zip(read_lines(source), read_lines(target), strict=True)
    write_scores(work, pairs, total, output, summary)


def write_scores(
    work: Callable,
    items: Any,
    total: int | None,
    output: Any,
    summary: Any,
    text_of: Callable = itemgetter(1),
    items_are: str = "lines",
):
    """Writes the log-probability of each line; or of all, the perplexity and the bits per byte.

    Each line counts with its end, as a token, a byte and a character. The bits leave out lines of
    which only the beginning was scored.

    Args:
        work: Callable (items, progress) -> list of `kformer.decoding.scoring.Scored`.
        output: Path of the file to write, None for stdout.
        summary: Whether to write the numbers of the whole text alone.
    """
    from kformer.decoding.scoring import perplexity

    tokens, bits, size, characters = 0, 0.0, 0, 0
    items, again = itertools.tee(items)  # A chunk apart.

    def results():
        nonlocal tokens, bits, size, characters
        scored = in_chunks(work, items, total, _CHUNK, "Scoring")
        for item, score in zip(again, scored, strict=True):
            tokens += len(score.tokens)
            if not score.flags:
                bits -= score.log_probability / math.log(2)
                size += len(text_of(item).encode()) + 1
                characters += len(text_of(item)) + 1
            if not summary:
                out.write(f"{score.log_probability:.4f}\t{score.mean:.4f}\n".encode())
            yield score

    with writing(output) as out:
        value = perplexity(results())
        if summary:
            out.write(
                f"perplexity  {value:.2f}  of {tokens} tokens in {total} {items_are}\n".encode()
            )
            if size:
                per_byte = f"{bits / size:.4f}  per byte of {size}"
                per_character = f"{bits / characters:.4f}  per character of {characters}"
                out.write(f"bits        {per_byte}, {per_character}\n".encode())
