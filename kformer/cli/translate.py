"""`kformer translate`."""

import itertools
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import AnyModel, TargetLanguage, check_no_options, open_translator
from kformer.cli.options import with_options_of
from kformer.cli.terminal.lines import (
    Input,
    Output,
    check_output,
    in_chunks,
    lines_to_translate,
)
from kformer.cli.terminal.output_format import OutputFormat, check_format, write_answers
from kformer.decoding.options import SearchOptions
from kformer.export.loading import saved_form
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel

SEARCH = "Search, for a .keras file"
_DETAILED = 200  # Lines in memory at once, where all of their attention is.


@with_options_of(SearchOptions, SEARCH)
def translate(
    model: AnyModel,
    input: Input = None,
    output: Output = None,
    format: Annotated[
        OutputFormat,
        typer.Option(
            help="text: one translation per line; tsv: line number, score and text; jsonl: "
            "everything known of a translation. tsv and jsonl need a .keras file."
        ),
    ] = OutputFormat.text,
    prefix: Annotated[
        Path | None,
        typer.Option(
            help="File with the beginning of each line's translation; a blank line leaves it open.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    target_language: TargetLanguage = None,
    **given,
):
    """Translate text line by line."""
    form = saved_form(model)
    check_output(output)
    if form != "keras":
        others = {"format": format != OutputFormat.text, "prefix": prefix}
        check_no_options(model, [*given, *(name for name, value in others.items() if value)])
    options = SearchOptions(**given)
    check_format(format, options.n_best)
    lines, total = lines_to_translate(input)
    if form == "keras":
        pairs = _with_prefixes(lines, input, prefix)
        results = _search(open_translator(model, target_language), pairs, total, options, format)
    else:
        results = in_chunks(open_translator(model, target_language).translations, lines, total)
    write_answers(results, format, output)


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
    """Yields the translations of each pair of a line and its prefix."""
    details = format == OutputFormat.jsonl

    def work(pairs, progress):
        texts, prefixes = zip(*pairs, strict=True)
        return translator.translations(texts, options, prefixes, progress=progress, details=details)

    return in_chunks(work, pairs, total, _DETAILED if details else None)
