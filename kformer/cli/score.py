"""`kformer score`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import KerasModel, TargetLanguage, check_is_keras, open_translator
from kformer.cli.terminal.lines import Output, check_output, in_chunks, writing
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel

_CHUNK = 500  # Pairs of lines in memory at once.


def score(
    model: KerasModel,
    source: Annotated[Path, typer.Option(help="Source text.")],
    target: Annotated[Path, typer.Option(help="Its translation, line by line.")],
    output: Output = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print only the perplexity of the whole text.")
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


def write_scores(work, items, total, output, summary):
    """Writes the log-probability of each line, or the perplexity of all.

    Args:
        work: Callable (items, progress) -> list of `kformer.decoding.scoring.Scored`.
        items: Iterable of what is scored, one for each line.
        total: How many.
        output: Path of the file to write, None for stdout.
        summary: Whether to write the perplexity alone.
    """
    from kformer.decoding.scoring import perplexity

    tokens = 0

    def told():
        nonlocal tokens
        for one in in_chunks(work, items, total, _CHUNK, "Scoring"):
            tokens += len(one.tokens)
            if not summary:
                out.write(f"{one.log_probability:.4f}\t{one.mean:.4f}\n".encode())
            yield one

    with writing(output) as out:
        value = perplexity(told())
        if summary:
            out.write(f"perplexity  {value:.2f}  of {tokens} tokens in {total} lines\n".encode())
