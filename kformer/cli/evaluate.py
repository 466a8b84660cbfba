"""`kformer evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.lines import translate_lines
from kformer.cli.model import AnyModel, BeamSize, LengthPenalty, open_model, what_is
from kformer.training.text_files import check_parallel, read_lines


def evaluate(
    model: AnyModel,
    source: Annotated[Path, typer.Option(help="Text to translate.")],
    reference: Annotated[Path, typer.Option(help="Its true translation, line for line.")],
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
):
    """Translate a text and compare with the true translation: BLEU and chrF, by sacreBLEU."""
    what_is(model)
    check_parallel(source, reference)
    texts, references = list(read_lines(source)), list(read_lines(reference))
    translate = open_model(model, beam_size, length_penalty)
    translations = list(translate_lines(translate, texts, len(texts)))

    from kformer.scores import bleu, chrf, exact

    for name, score in (
        ("BLEU", bleu(translations, references)),
        ("chrF", chrf(translations, references)),
    ):
        typer.echo(f"{name:<6}{score.value:6.2f}  {score.signature}")
    typer.echo(f"exact {exact(translations, references):6.2f}  percent of {len(texts)} sentences")
