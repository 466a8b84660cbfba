"""`kformer score`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import check_is_keras, open_translator
from kformer.cli.terminal.lines import check_output, in_chunks, writing
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel

_CHUNK = 500  # Pairs of lines in memory at once.


def score(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    source: Annotated[Path, typer.Option(help="Text.")],
    target: Annotated[Path, typer.Option(help="Its translation, line for line.")],
    output: Annotated[Path | None, typer.Option(help="Where to write, else stdout.")] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print the perplexity of the whole, and no lines.")
    ] = False,
):
    """Tell how likely a model finds a given translation: log-probability, and that of a token.

    A line for a line: the natural logarithm of the translation's probability, a tab, the mean for
    a token. Both count the end of the line as a token.
    """
    check_is_keras(model, "can score")
    check_output(output)
    total = check_parallel(source, target)
    translator = open_translator(model)

    from kformer.decoding.scoring import perplexity

    def work(pairs, progress):
        return translator.score(*zip(*pairs, strict=True), progress=progress)

    pairs = zip(read_lines(source), read_lines(target), strict=True)
    tokens = 0

    def told():
        nonlocal tokens
        for one in in_chunks(work, pairs, total, _CHUNK, "Scoring"):
            tokens += len(one.tokens)
            if not summary:
                out.write(f"{one.log_probability:.4f}\t{one.mean:.4f}\n".encode())
            yield one

    with writing(output) as out:
        value = perplexity(told())
        if summary:
            out.write(f"perplexity  {value:.2f}  of {tokens} tokens in {total} lines\n".encode())
