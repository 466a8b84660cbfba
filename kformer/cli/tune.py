"""`kformer tune`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.arguments import check_choice, check_integer
from kformer.cli.command_options import LanguageToScore, Tokenize
from kformer.cli.common_models import KerasModel, check_is_keras, open_translator
from kformer.cli.evaluate import read_whole, show_table
from kformer.cli.terminal.next_steps import suggest
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.files import check_writable
from kformer.text.bleu_tokenizers import bleu_tokenizer
from kformer.training.data.pairs import check_parallel

_Files = list[Path]


def tune(
    model: KerasModel,
    source: Annotated[
        _Files, typer.Option(help="Text that the model was not trained on. May be repeated.")
    ],
    reference: Annotated[
        _Files, typer.Option("--reference", "--target", help="Its translation, line by line.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help=".keras file to write: the model, with the chosen search as its own."),
    ] = None,
    beam_size: Annotated[
        int | None, typer.Option(help="Number of beams; by default the model's own, or 4.")
    ] = None,
    metric: Annotated[str, typer.Option(help="Score: bleu or chrf.")] = "bleu",
    tokenize: Tokenize = None,
    target_language: LanguageToScore = None,
):
    """Choose the length penalty of a model's beam search, best on several texts.

    Each text counts alike: add one that is unlike the others, so that the choice holds elsewhere.
    """
    check_is_keras(model, "can be given a search of its own")
    check_choice("metric", metric, ("bleu", "chrf"))
    if beam_size is not None:
        check_integer("beam_size", beam_size, least=2)
    check_parallel(source, reference)
    bleu_tokenizer(tokenize, target_language)
    if output is not None and output.suffix != ".keras":
        raise ValueError(f"The file's name must end in .keras. Received: {str(output)!r}.")
    if output is not None:
        check_writable(output)
    files = zip(source, reference, strict=True)
    texts = [(read_whole(text), read_whole(translation)) for text, translation in files]
    translator = open_translator(model, target_language, if_any=True)
    language = target_language or translator.target_language

    from kformer.tasks.search_defaults import BEAMS
    from kformer.tasks.search_tuning import PENALTIES, tune_search
    from kformer.text.scores import bleu_metric, chrf_metric, score_with

    own = translator.search_defaults
    beams = beam_size or max(own.get("beam_size", BEAMS), 2)
    scorer = chrf_metric() if metric == "chrf" else bleu_metric(tokenize, language)
    total = len(PENALTIES) * sum(len(sources) for sources, _ in texts)
    with ProgressLine("Translating", total, in_log=True) as bar:
        tuned = tune_search(
            translator,
            texts,
            lambda lines, references: score_with(scorer, lines, list(references)).value,
            beams,
            progress=bar.update,
        )
    marks = ["*" if p == tuned.length_penalty else "" for p in tuned.penalties]
    columns = {"length penalty": [f"{penalty:g}" for penalty in tuned.penalties]}
    for number, file in enumerate(source):
        columns[str(file)] = [f"{score:.2f}" for score in tuned.scores[:, number]]
    columns |= {"smoothed mean": [f"{score:.2f}" for score in tuned.smoothed], "": marks}
    show_table(columns)
    chosen = {"beam_size": beams, "length_penalty": tuned.length_penalty}
    typer.echo(f"Chosen: --beam-size {beams} --length-penalty {tuned.length_penalty:g}")
    if output is not None:
        translator.search_defaults = {**own, **chosen}
        translator.save(output)
        typer.echo(f"The translator with this search is {output}")
        suggest("kformer", "export", output, "--tflite", output.with_suffix(".tflite"))
