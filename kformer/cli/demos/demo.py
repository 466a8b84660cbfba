"""`kformer demo`."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.demos.classifier import ClassifierDemo
from kformer.cli.demos.language_model import LanguageModelDemo
from kformer.cli.demos.translator import TranslatorDemo
from kformer.cli.exporting.options import Exports
from kformer.cli.exporting.report_table import show_reports
from kformer.cli.exporting.writing import write_exports
from kformer.training.run.continuation import check_output
from kformer.training.run.folder import RUN_CONFIG

MADE = (  # Stems.
    *("text", "run", "served", "attention", "confusion"),
    *("translator", "classifier", "language_model"),
)


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the files of the demo.")] = Path("demo"),
    classifier: Annotated[
        bool,
        typer.Option("--classifier", help="Train a classifier of built-in reviews instead."),
    ] = False,
    lm: Annotated[
        bool,
        typer.Option("--lm", help="Train a language model of the English sentences instead."),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Train a smaller model in a minute; it is bad at its task."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo in the folder.")
    ] = False,
):
    """Train, evaluate, export and use a model, on built-in text: a German-English phrasebook."""
    if classifier and lm:
        raise ValueError("A demo is of one model. Received: --classifier and --lm.")
    run = output / "run"
    _check_folder(output)
    check_output(run, overwrite)
    if (run / RUN_CONFIG).is_file():  # An earlier demo's, or `served` would not be ours to delete.
        shutil.rmtree(output / "served", ignore_errors=True)
    kind = ClassifierDemo if classifier else LanguageModelDemo if lm else TranslatorDemo
    shown = kind(output, quick, overwrite)
    typer.echo("\nTrying the held-out texts in all three forms ...")
    tflite = output / f"{shown.name}.tflite"
    exports = Exports(saved_model=output / "served", tflite=tflite)
    reports = write_exports(shown.model, shown.texts, shown.references, exports)
    picture = shown.draw()
    _show_answers(shown, output, tflite)
    shown.show_scores()
    show_reports(reports)
    typer.echo(
        f"\n{f'The {shown.name}'.replace('_', ' '):<20}{run / f'{shown.name}.keras'}\n"
        f"for TF Serving      {output / 'served'}\n"
        f"for LiteRT          {tflite}\n"
        f"{shown.drawn:<20}{picture}\n"
        f"its learning curve  {run / 'history.png'}"
    )
    if quick:
        typer.echo(
            "\nThis was the quick demo: a model too small and trained too briefly to be good."
        )


def _check_folder(output):
    """Raises FileExistsError where the demo's files would mix with others."""
    found = output.glob("[!.]*") if output.is_dir() else ()
    foreign = sorted(file.name for file in found if file.name.split(".")[0] not in MADE)
    if foreign:
        raise FileExistsError(
            "The demo's folder must be new or empty, or hold an earlier demo. Received: "
            f"{str(output)!r}, which holds {foreign[0]!r}, too."
        )


def _show_answers(shown, output, tflite):
    """Prints what each form, read anew from its file, says of a few texts."""
    forms = {
        ".keras": output / "run" / f"{shown.name}.keras",
        "SavedModel": output / "served",
        ".tflite": tflite,
    }
    said = {name: shown.answers(path, shown.shown) for name, path in forms.items()}
    for i, text in enumerate(shown.shown):
        typer.echo(f"\n{text}")
        for name, answers in said.items():
            typer.echo(f"  {name:<12}{answers[i]}")
