"""`kformer evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.model import AnyModel, Others, ShortlistTable, TargetLanguage, open_model
from kformer.cli.options import with_options_of
from kformer.cli.terminal.lines import translate_lines
from kformer.decoding.options import SearchOptions
from kformer.export.loading import saved_form
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel


@with_options_of(SearchOptions, "Search, for a .keras file", ["beam_size", "length_penalty"])
def evaluate(
    model: AnyModel,
    source: Annotated[Path, typer.Option(help="Text to translate.")],
    reference: Annotated[Path, typer.Option(help="Its reference translation, line by line.")],
    moses: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Also print the BLEU that many papers report: lowercased, tokenised by Moses for "
            "this language (de, en, ...).",
        ),
    ] = None,
    ensemble: Others = None,
    target_language: TargetLanguage = None,
    shortlist: ShortlistTable = None,
    **search,
):
    """Translate a text and compare it with its reference translation: BLEU and chrF (sacreBLEU)."""
    saved_form(model)  # Raises if it is none.
    check_parallel(source, reference)
    if moses is not None:
        _check_moses(moses)
    texts, references = list(read_lines(source)), list(read_lines(reference))
    translate = open_model(model, ensemble or (), target_language, shortlist, **search)
    translations = list(translate_lines(translate, texts, len(texts)))

    from kformer.text.scores import bleu, chrf, exact, moses_bleu

    scores = [("BLEU", bleu(translations, references)), ("chrF", chrf(translations, references))]
    if moses is not None:
        scores.insert(1, ("BLEU", moses_bleu(translations, references, moses)))
    for name, score in scores:
        typer.echo(f"{name:<6}{score.value:6.2f}  {score.signature}")
    typer.echo(f"exact {exact(translations, references):6.2f}  percent of {len(texts)} sentences")


def _check_moses(language):
    from kformer.text.scores import moses_tokenizer

    try:
        moses_tokenizer(language)
    except ImportError as error:
        raise ValueError(f"--moses cannot be used. {error}") from error
