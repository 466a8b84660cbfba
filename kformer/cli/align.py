"""`kformer align`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.common_models import AnyModel, TargetLanguage, check_is_keras, open_translator
from kformer.cli.terminal.line_streams import Output, check_output, in_chunks, writing
from kformer.files import check_writable
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel, count_lines

_CHUNK = 500  # Pairs of lines in memory at once.


class LinkFormat(StrEnum):
    """How links are written."""

    pharaoh = "pharaoh"
    tsv = "tsv"


def align(
    model: AnyModel,
    source: Annotated[Path, typer.Option(help="Source text.")],
    target: Annotated[Path, typer.Option(help="Its translation, line by line.")],
    output: Output = None,
    format: Annotated[
        LinkFormat,
        typer.Option(
            help="pharaoh: places of words, from 0, such as 0-0 1-2; tsv: line number, word and "
            "word."
        ),
    ] = LinkFormat.pharaoh,
    layer: Annotated[
        int | None,
        typer.Option(help="Layer whose attention to use, from 1; by default the model's choice."),
    ] = None,
    head: Annotated[
        int | None, typer.Option(help="With --layer: a head of it, from 1; by default their mean.")
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Links by hand, a line each, such as 0-0 1-2 2?3; ? is only possible. Prints the "
            "alignment error rate instead of links."
        ),
    ] = None,
    choose: Annotated[
        bool,
        typer.Option(
            "--choose",
            help="Find the layer and head that align this text best, by --gold or by the agreement "
            "of both directions, and store them in the model.",
        ),
    ] = False,
    target_language: TargetLanguage = None,
):
    """Link the words of a text to the words of its translation, by a translator's attention."""
    if choose or layer is not None:
        check_is_keras(model, "aligns words by any head")
    check_output(output)
    _check_options(choose, gold, output, layer, head)
    total = check_parallel(source, target)
    links = _read_gold(gold, total)
    translator = open_translator(model, target_language)
    pairs = zip(read_lines(source), read_lines(target), strict=True)
    if choose:
        _choose(translator, model, list(pairs), links)
        return
    own_head = {} if layer is None else {"head": (layer, head)}

    def work(pairs, progress):
        return translator.align(*zip(*pairs, strict=True), progress=progress, **own_head)

    alignments = in_chunks(work, pairs, total, _CHUNK, "Aligning")
    if links is not None:
        _write_error_rate(list(alignments), links)
        return
    with writing(output) as out:
        for number, alignment in enumerate(alignments, start=1):
            out.write("".join(f"{line}\n" for line in _lines(format, number, alignment)).encode())


def _check_options(choose, gold, output, layer, head):
    if head is not None and layer is None:
        raise ValueError(f"--head is a head of --layer. Received: head={head} alone.")
    if choose and layer is not None:
        raise ValueError(f"--choose finds the layer. Received: layer={layer} with --choose.")
    if output and (choose or gold):
        raise ValueError(
            "--choose and --gold print figures instead of links. "
            f"Received: output={str(output)!r} with {'--choose' if choose else '--gold'}."
        )


def _read_gold(gold, total):
    if gold is None:
        return None
    from kformer.text.alignment import read_gold

    if count_lines(gold) != total:
        raise ValueError(
            "The links by hand must have a line for each pair of lines. "
            f"Received: {count_lines(gold)} lines in {str(gold)!r}, {total} pairs."
        )
    return read_gold(read_lines(gold), str(gold))


def _choose(translator, model, pairs, links):
    """Stores the head that aligns best in the model, and prints how well each does."""
    check_writable(model)
    scores = translator.choose_alignment_head(*zip(*pairs, strict=True), links)
    translator.save(model)
    typer.echo(f"layer  head  agreement %{'  error rate %' * (links is not None)}")
    for (layer, head), agreement, rate in scores:
        line = f"{layer:>5}  {head or 'mean':>4}  {100 * agreement:>11.2f}"
        typer.echo(line if rate is None else f"{line}  {100 * rate:>12.2f}")
    typer.echo(f"{model} aligns words by {scores[0].head} from now on.")


def _write_error_rate(alignments, links):
    from kformer.text.alignment import alignment_error_rate, check_gold

    check_gold(alignments, links)
    rate = alignment_error_rate((alignment.links for alignment in alignments), links)
    typer.echo(f"alignment error rate {100 * rate:.2f}  percent of {len(links):,} lines")


def _lines(format, number, alignment):
    """Yields the lines for the links of line `number`."""
    if format == LinkFormat.pharaoh:
        yield str(alignment)
        return
    for i, j in alignment.links:
        yield f"{number}\t{alignment.source[i]}\t{alignment.target[j]}"
