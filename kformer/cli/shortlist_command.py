"""`kformer shortlist`."""

from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.common_models import KerasModel, TargetLanguage, check_is_keras, open_translator
from kformer.cli.terminal.progress_line import ProgressLine
from kformer.files import check_writable
from kformer.inference.search_options import SHORTLIST_SIZE

_Files = list[Path]


def shortlist(
    model: KerasModel,
    source: Annotated[
        _Files,
        typer.Option(help="Text of the source language, best what the model learnt; repeatable."),
    ],
    target: Annotated[_Files, typer.Option(help="Its translation, line by line; repeatable.")],
    output: Annotated[Path, typer.Option(help="Table to write, .npz.")],
    size: Annotated[
        int, typer.Option(help="Number of ids that the translation of a sentence may have.")
    ] = SHORTLIST_SIZE,
    target_language: TargetLanguage = None,
):
    """Learn which ids a translation may have, so that decoding with a large vocabulary is faster.

    For --shortlist of export, translate and evaluate.
    """
    check_is_keras(model, "has vocabularies to learn a shortlist for")
    if output.suffix != ".npz":
        raise ValueError(f"The file's name must end in .npz. Received: {str(output)!r}.")
    check_writable(output)
    from kformer.training.shortlist_learning import learn_shortlist, number_of_pairs

    total = number_of_pairs(source, target)
    translator = open_translator(model, target_language)
    with ProgressLine("Learning", total, in_log=True) as bar:
        learnt = learn_shortlist(translator, source, target, size, bar.update)
    learnt.save(output)
    entries, ids = len(learnt.entries), len(learnt.ends)
    typer.echo(f"{output}: {learnt.size} candidates, {entries:,} entries of {ids:,} source ids")
