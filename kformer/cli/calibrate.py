"""`kformer calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.common_models import KerasModel, TargetLanguage, check_is_keras
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.cli.terminal.streams import quiet
from kformer.files import check_writable
from kformer.kinds import TRANSLATOR
from kformer.text.text_files import read_lines
from kformer.training.data.pairs import check_parallel


def calibrate(
    model: KerasModel,
    source: Annotated[
        Path, typer.Option(help="Text that the model was not trained on, 100 lines or more.")
    ],
    reference: Annotated[
        Path, typer.Option("--reference", "--target", help="Its right translation, line by line.")
    ],
    target_language: TargetLanguage = None,
):
    """Learn to estimate the quality of translations, and to flag the unsure ones.

    The estimate is stored in the model, and in all that is exported from it. Training with
    validation text does the same.
    """
    check_is_keras(model, "is calibrated")
    check_writable(model)
    check_parallel(source, reference)
    with quiet():
        import kformer

        translator = kformer.load(model)
        TRANSLATOR.check("model", translator)
    texts = [*read_lines(source)], [*read_lines(reference)]
    with ProgressLine("Translating", None, in_log=True) as bar:
        doubt = translator.calibrate(*texts, bar.update, target_language)
    translator.save(model)
    typer.echo(
        f"{doubt}. An unsure translation has an expected chrF below "
        f"{100 * translator.quality_estimate.threshold:.1f}; Spearman's correlation of the "
        f"estimate with chrF is {doubt.correlation:.2f}."
    )
