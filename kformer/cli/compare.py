"""`kformer compare`."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from kformer.arguments import check_integer
from kformer.cli.command_options import LanguageToScore, Tokenize
from kformer.cli.common_models import ModelPath, a_file_of, open_translator
from kformer.cli.evaluate import read_whole, show_scores, translated_by
from kformer.text.bleu_tokenizers import bleu_tokenizer
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel

System = Annotated[
    ModelPath,
    a_file_of(
        "A .keras file, the folder of a training run, a SavedModel folder or a .tflite file; or a "
        "text file of translations, line by line.",
        typer.Argument,
    ),
]


class Change(NamedTuple):
    """The difference between two translations of one line.

    Attributes:
        line: Number of the line, from 1.
        difference: Sentence chrF of the second translation less the first's.
        texts: The source, both translations and the reference.
    """

    line: int
    difference: float
    texts: tuple[str, str, str, str]


def compare(
    first: System,
    second: System,
    source: Annotated[Path, typer.Option(help="The source text, line by line.")],
    reference: Annotated[
        Path,
        typer.Option("--reference", "--target", help="Its reference translation, line by line."),
    ],
    number: Annotated[
        int, typer.Option(help="Most sentences to show of those that got better, and of the worse.")
    ] = 5,
    tokenize: Tokenize = None,
    target_language: LanguageToScore = None,
):
    """Compare two translations of a text: their scores, and the sentences that differ most.

    The second is measured against the first: BLEU and chrF with 95 % intervals and a paired
    bootstrap test, as in `kformer evaluate --confidence`, and sentences by their chrF.
    """
    check_integer("number", number, least=0)
    files = [system for system in (first, second) if not _is_model(system)]
    check_parallel([source, *files], [reference] * (1 + len(files)))
    bleu_tokenizer(tokenize, target_language)
    sources, references = list(read_lines(source)), read_whole(reference)
    lines = []
    for system in (first, second):
        if system in files:
            lines.append(read_whole(system))
            continue
        translator = open_translator(system, target_language, if_any=True)
        target_language = target_language or translator.target_language
        lines.append(translated_by(translator, source, None, {}))

    from kformer.text.scores import bleu_metric, chrf_metric

    bleu = bleu_metric(tokenize, target_language, references=references)
    named = {f"first: {first}": lines[0], f"second: {second}": lines[1]}
    show_scores(named, references, {"BLEU": bleu, "chrF": chrf_metric()}, confidence=True)
    _show_changes(changes(sources, lines[0], lines[1], references), number)


def _is_model(path: Path) -> bool:
    return path.is_dir() or path.suffix in (".keras", ".tflite")


def changes(
    sources: list[str], first: list[str], second: list[str], references: list[str]
) -> list[Change]:
    """Returns the change of each line, those that got most worse first."""
    from kformer.text.scores import sentence_scorer

    chrf = sentence_scorer("chrf")
    compared = [
        Change(i, chrf(texts[2], texts[3]) - chrf(texts[1], texts[3]), texts)
        for i, texts in enumerate(zip(sources, first, second, references, strict=True), 1)
    ]
    return sorted(compared, key=lambda change: change.difference)


def _show_changes(compared: list[Change], number: int):
    better = [change for change in reversed(compared) if change.difference > 0]
    worse = [change for change in compared if change.difference < 0]
    equal = len(compared) - len(better) - len(worse)
    typer.echo(
        f"By chrF, {len(better)} of {len(compared)} sentences are better in the second, "
        f"{len(worse)} worse, {equal} as good."
    )
    for name, shown in (("Better", better[:number]), ("Worse", worse[:number])):
        for change in shown:
            typer.echo(f"\n{name} by {abs(change.difference):.1f}, line {change.line}")
            for label, text in zip(
                ("source", "first", "second", "reference"), change.texts, strict=True
            ):
                typer.echo(f"  {label:<10}{text}")
