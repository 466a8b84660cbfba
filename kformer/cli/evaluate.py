"""`kformer evaluate`."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kformer.cli.command_options import LanguageToScore, Tokenize, with_options_of
from kformer.cli.common_models import (
    ModelPath,
    Others,
    ShortlistTable,
    a_file_of,
    check_has_options,
    open_ensemble,
)
from kformer.cli.terminal.line_streams import check_output, translate_lines, writing
from kformer.cli.terminal.text_width import left, right, width_of
from kformer.inference.search_options import SearchOptions
from kformer.text.bleu_tokenizers import bleu_tokenizer
from kformer.text.long_lines import check_whole
from kformer.text.text_files import read_lines
from kformer.training.data.noise import noisy_text
from kformer.training.data.pairs import check_parallel
from kformer.training.recipes.noise_rates import NOISES

if TYPE_CHECKING:  # It is slow to import.
    from sacrebleu.metrics.base import Metric


@with_options_of(SearchOptions, "Search, for a .keras file", ["beam_size", "length_penalty"])
def evaluate(
    reference: Annotated[
        Path,
        typer.Option(
            "--reference", "--target", help="Reference translation of the text, line by line."
        ),
    ],
    model: Annotated[
        ModelPath | None,
        a_file_of(
            "A .keras file, the folder of a training run, a SavedModel folder or a .tflite file; "
            "none with --hypotheses alone.",
            typer.Argument,
        ),
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Text that MODEL translates.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="File to write the translations by MODEL to.")
    ] = None,
    hypotheses: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file of translations to score, too, or instead of a MODEL. May be repeated."
        ),
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Also print 95 % intervals and, for each but the first of several systems, how "
            "likely chance alone makes such a difference to the first.",
        ),
    ] = False,
    noise: Annotated[
        bool,
        typer.Option(
            "--noise",
            help="Also print the scores of MODEL for noisy text: all of it in upper case, with "
            "typing errors and so on, each kind alone.",
        ),
    ] = False,
    tokenize: Tokenize = None,
    moses: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Also print the BLEU that many papers report: lowercased, tokenised by Moses for "
            "this language (de, en, ...).",
        ),
    ] = None,
    ensemble: Others = None,
    target_language: LanguageToScore = None,
    shortlist: ShortlistTable = None,
    **search: Any,
):
    """Score translations by their references: BLEU and chrF (sacreBLEU).

    MODEL translates --source; or files contain the translations.
    """
    files = hypotheses or []
    _check_what_is_scored(model, source, output, files, noise)
    texts = [] if source is None else [source]
    check_parallel([*texts, *files], [reference] * len([*texts, *files]))
    if moses is not None:
        _check_moses(moses)
    bleu_tokenizer(tokenize, target_language)
    check_output(output)
    systems, references = {}, read_whole(reference)
    if model is not None and source is not None:
        check_has_options(model, ensemble, shortlist, search)
        translator = open_ensemble(model, ensemble or (), target_language, shortlist, if_any=True)
        target_language = target_language or translator.target_language
        bleu_tokenizer(tokenize, target_language)
        systems[model] = translated_by(translator, source, output, search)
    systems |= {file: read_whole(file) for file in files}

    from kformer.text.scores import bleu_metric, chrf_metric, moses_metric

    metrics: dict[str, Metric]
    metrics = {"BLEU": bleu_metric(tokenize, target_language, references=references)}
    if moses is not None:
        metrics["BLEU, Moses"] = moses_metric(moses)
    metrics["chrF"] = chrf_metric()
    show_scores(systems, references, metrics, confidence)
    if noise and model is not None and source is not None:
        lowercase = bleu_metric(tokenize, target_language, lowercase=True)
        metrics = {"BLEU": metrics["BLEU"], "no case": lowercase, "chrF": metrics["chrF"]}
        clean = list(read_lines(source)), systems[model]
        translate = functools.partial(_translations, translator, search=search)
        _show_noise(clean, references, metrics, translate)


def read_whole(file: Path) -> list[str]:
    """Returns the lines of a file, and refuses it if one is too long to be read whole."""
    return list(check_whole(read_lines(file), repr(str(file))))


def _check_what_is_scored(model, source, output, files, noise):
    if model is None and not files:
        raise ValueError(
            "Say what to score: a MODEL with --source, --hypotheses, or both. Received: neither."
        )
    if (model is None) != (source is None):
        raise ValueError(
            "A MODEL translates --source, and files of translations need neither. "
            f"Received: MODEL {model and str(model)!r}, --source {source and str(source)!r}."
        )
    if model is None and output is not None:
        raise ValueError(
            "--output is for the translations by a MODEL. "
            f"Received: --output {str(output)!r} without one."
        )
    if model is None and noise:
        raise ValueError("--noise is for a MODEL that translates. Received: --noise without one.")


def _check_moses(language):
    from kformer.text.scores import moses_tokenizer

    try:
        moses_tokenizer(language)
    except ImportError as error:
        raise ValueError(f"--moses cannot be used. {error}") from error


def translated_by(
    translator: Any, source: Path, output: Path | None, search: dict[str, Any]
) -> list[str]:
    """Returns the translation of each line of `source`, and writes them to `output` if given."""
    translations = _translations(translator, list(read_lines(source)), search)
    if output is not None:
        with writing(output) as file:
            file.write("".join(f"{line}\n" for line in translations).encode("utf-8"))
    return translations


def _translations(translator, texts, search):
    def translate(lines, progress):
        return translator.translate(lines, progress=progress, split=False, **search)

    return list(translate_lines(translate, texts, len(texts)))


def _show_noise(clean, references, metrics, translate):
    """Prints the scores of a model for a text with each kind of noise.

    The references change as the targets of training do: a text in upper case has references in
    upper case.
    """
    from kformer.text.scores import score_with

    sources, lines = clean
    translated = [("clean", lines, references)]
    for name, description in NOISES.items():
        noisy, expected = noisy_text(name, sources, references)
        translated.append((f"{name}: {description}", translate(noisy), expected))
    columns = {"": [name for name, *_ in translated]}
    for metric_name, metric in metrics.items():
        scores = (score_with(metric, *texts) for _, *texts in translated)
        columns[metric_name] = [f"{score.value:.2f}" for score in scores]
    typer.echo("")
    show_table(columns)


def show_scores(
    systems: dict[Any, list[str]], references: list[str], metrics: dict[str, Any], confidence: bool
):
    """Prints the scores of systems, and how they were measured.

    Args:
        confidence: Whether to print intervals and p-values, too.
    """
    from kformer.text.scores import exact

    shares = [f"{exact(lines, references):.2f}" for lines in systems.values()]
    columns, signatures = {}, {}
    for name, metric in metrics.items():
        cells, signature = _scores(metric, systems.values(), references, confidence)
        columns[name], signatures[name] = cells, signature
    if len(systems) == 1:
        width = max(len(cell) for [cell] in [*columns.values(), shares])
        for name, [cell] in columns.items():
            typer.echo(f"{name.split(',')[0]:<6}{cell:>{max(width, 6)}}  {signatures[name]}")
        share = f"{shares[0]:>{max(width, 6)}}"
        typer.echo(f"exact {share}  percent of {len(references)} sentences")
        return
    show_table({"": [*map(str, systems)], **columns, "exact %": shares})
    for name, signature in signatures.items():
        typer.echo(f"{name}: {signature}")
    if confidence:
        typer.echo("p: how likely chance alone makes such a difference to the first line")


def _scores(metric, systems, references, confidence):
    """Returns the scores of systems as text, and their signature."""
    if confidence:
        from kformer.text.scores import bootstrap

        estimates, signature = bootstrap(metric, [*systems], references)
        cells = [_estimate(estimate) for estimate in estimates]
        return [cell.ljust(max(map(len, cells))) for cell in cells], signature
    from kformer.text.scores import score_with

    scores = [score_with(metric, lines, references) for lines in systems]
    return [f"{score.value:.2f}" for score in scores], scores[0].signature


def _estimate(estimate):
    text = f"{estimate.value:.2f} ± {estimate.interval:.2f}"
    return text if estimate.p_value is None else f"{text}, p {estimate.p_value:.3f}"


def show_table(columns):
    """Prints columns of text below their names; the first is aligned on the left."""
    aligned = []
    for number, (name, cells) in enumerate(columns.items()):
        width = max(map(width_of, [name, *cells]))
        align = right if number else left
        aligned.append([align(cell, width) for cell in (name, *cells)])
    for row in zip(*aligned, strict=True):
        typer.echo("  ".join(row))
