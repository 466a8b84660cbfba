"""`kformer translate`."""

import itertools
import sys
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import (
    AnyModel,
    BeamSize,
    LengthPenalty,
    check_no_options,
    open_translator,
)
from kformer.cli.terminal.lines import check_output, in_chunks, one_line, writing
from kformer.cli.terminal.output_format import (
    OutputFormat,
    check_format,
    warn_of_flags,
    written,
)
from kformer.decoding.options import SearchOptions
from kformer.tasks.loading import saved_form
from kformer.text.text_files import decoded, read_lines
from kformer.training.data.parallel_files import check_parallel

_DETAILED = 200  # Lines in memory at once, where all of their attention is.


def _option(help, *flag):
    return typer.Option(*flag, help=help, rich_help_panel="Search, for a .keras file")


def translate(
    model: AnyModel,
    input: Annotated[Path | None, typer.Option(help="Text to translate, else stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to write, else stdout.")] = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: a line for a line; tsv: number of the line, score, text; jsonl: all that "
            "is known. Others than text are for a .keras file."
        ),
    ] = OutputFormat.text,
    prefix: Annotated[
        Path | None,
        _option("What the translations must begin with, line for line; all of a blank line's."),
    ] = None,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
    coverage_penalty: Annotated[
        float | None, _option("0 for none; more for beams that look at all of the source.")
    ] = None,
    n_best: Annotated[
        int | None, _option("Translations, or samples, of each line; with --format tsv or jsonl.")
    ] = None,
    sample: Annotated[bool, _option("Draw by chance, instead of the best.", "--sample")] = False,
    temperature: Annotated[
        float | None, _option("Of sampling: under 1 likely ids become likelier.")
    ] = None,
    top_k: Annotated[int | None, _option("Draw among so many of the likeliest ids.")] = None,
    top_p: Annotated[
        float | None, _option("Draw among the likeliest ids of this probability together.")
    ] = None,
    seed: Annotated[
        int | None, _option("Of sampling: the same seed and line give the same samples again.")
    ] = None,
    min_length: Annotated[int | None, _option("Fewest ids of a translation.")] = None,
    max_length: Annotated[int | None, _option("Most ids of a translation.")] = None,
    min_length_ratio: Annotated[
        float | None, _option("Fewest ids of a translation for one of its source.")
    ] = None,
    max_length_ratio: Annotated[
        float | None, _option("Most ids of a translation for one of its source.")
    ] = None,
    no_repeat_ngram: Annotated[
        int | None, _option("No sequence of so many ids comes twice.")
    ] = None,
    repetition_penalty: Annotated[
        float | None, _option("Over 1 makes what came before less likely to come again.")
    ] = None,
):
    """Translate text, a line for a line."""
    given = {
        "beam_size": beam_size,
        "length_penalty": length_penalty,
        "coverage_penalty": coverage_penalty,
        "n_best": n_best,
        "sample": sample or None,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
        "min_length": min_length,
        "max_length": max_length,
        "min_length_ratio": min_length_ratio,
        "max_length_ratio": max_length_ratio,
        "no_repeat_ngram": no_repeat_ngram,
        "repetition_penalty": repetition_penalty,
    }
    given = {name: value for name, value in given.items() if value is not None}
    form = saved_form(model)
    check_output(output)
    if form != "keras":
        others = {"format": format != OutputFormat.text, "prefix": prefix}
        check_no_options(model, [*given, *(name for name, value in others.items() if value)])
    options = SearchOptions(**given)
    check_format(format, options.n_best)
    lines, total = _lines(input)
    if form == "keras":
        pairs = _with_prefixes(lines, input, prefix)
        results = _search(open_translator(model), pairs, total, options, format)
    else:
        results = _as_exported(open_translator(model), lines, total)
    with writing(output) as out:
        for result in results:
            out.write(result.encode("utf-8") + b"\n")


def _lines(input):
    """The lines to translate, and how many, if that is known."""
    if input:
        lines = list(read_lines(input))
        return lines, len(lines)
    return decoded(sys.stdin.buffer, "stdin"), None


def _with_prefixes(lines, input, prefix):
    """Pairs of a line and what its translation must begin with."""
    if prefix is None:
        return ((line, "") for line in lines)
    if input:
        check_parallel(input, prefix)
    return _paired(lines, read_lines(prefix), prefix)


def _paired(lines, prefixes, file):
    for pair in itertools.zip_longest(lines, prefixes):
        if None in pair:
            more = "more" if pair[0] is None else "fewer"
            raise ValueError(
                "Every line needs its prefix, a blank one for none. "
                f"Received: {more} lines in {str(file)!r} than to translate."
            )
        yield pair


def _search(translator, pairs, total, options, format):
    """Yields what is to be written, and warns of what may be no translation."""
    details = format == OutputFormat.jsonl

    def work(pairs, progress):
        texts, prefixes = zip(*pairs, strict=True)
        return translator.translations(texts, options, prefixes, progress=progress, details=details)

    chunk = _DETAILED if details else None
    for number, translations in enumerate(in_chunks(work, pairs, total, chunk), start=1):
        warn_of_flags(number, translations[0])
        yield from written(format, number, translations)


def _as_exported(translator, lines, total):
    """As `_search`, by the search that a SavedModel or a .tflite file has in it."""
    for number, [best] in enumerate(in_chunks(translator.translations, lines, total), start=1):
        warn_of_flags(number, best)
        yield one_line(best.text)
