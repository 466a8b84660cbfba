"""`kformer export`."""

import dataclasses
import itertools
from pathlib import Path
from typing import Annotated

import typer

import kformer
from kformer.cli.checked_exports import Exports, show_reports, write_exports
from kformer.cli.model import check_is_keras
from kformer.cli.options import with_options_of
from kformer.cli.terminal.quiet import quiet
from kformer.export.saved_model.serving_files import check_serving_folder
from kformer.export.tflite.report import report_path
from kformer.export.web.litert_js import find_litert_js
from kformer.files import check_writable
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel
from kformer.training.run.run_config import read_run_config

CHECKED = 1000  # Sentences at most, from the beginning of the file.


@with_options_of(Exports)
def export(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    check_source: Annotated[
        Path | None,
        typer.Option(
            help="Sentences to compare with Python; by default the run's validation files.",
            rich_help_panel="Check",
        ),
    ] = None,
    check_reference: Annotated[
        Path | None,
        typer.Option(help="Their reference translations, for BLEU.", rich_help_panel="Check"),
    ] = None,
    **given,
):
    """Write a SavedModel, a .tflite file or a web page, and check that they agree with Python."""
    check_is_keras(model, "can be exported")
    exports = Exports(**given)
    if not exports.paths:
        raise ValueError("Say what to write: --saved-model DIR, --tflite FILE, --web DIR, or more.")
    _check_places(exports.saved_model, exports.tflite, exports.web)
    if exports.web:
        exports = dataclasses.replace(exports, litert_js=find_litert_js(exports.litert_js))
    elif exports.litert_js:
        raise ValueError(
            "--litert-js is for a web page: give --web, too. "
            f"Received: {str(exports.litert_js)!r} alone."
        )
    texts, references = _held_out(model, check_source, check_reference)
    with quiet():
        translator = kformer.load(model)
    show_reports(write_exports(translator, texts, references, exports))
    for path in exports.paths:
        typer.echo(f"Written: {path}")


def _check_places(saved_model, tflite, web):
    """Refuses paths that could not be written to, or that are in each other's way."""
    if saved_model:
        check_serving_folder(saved_model)
    if tflite:
        if tflite.suffix != ".tflite":
            raise ValueError(f"The file's name must end in .tflite. Received: {str(tflite)!r}.")
        check_writable(tflite)
        check_writable(report_path(tflite))
    if web:
        if web.exists():
            raise FileExistsError(f"A web page needs a new folder. Received: {str(web)!r}.")
        check_writable(web)
        for other in filter(None, (saved_model, tflite)):
            if other.resolve().is_relative_to(web.resolve()):
                raise ValueError(
                    "The folder of a web page holds nothing else. "
                    f"Received: {str(other)!r} in {str(web)!r}."
                )


def _held_out(model, source, reference):
    """The sentences to check with, and their references, if there are any."""
    if source is None:
        if reference:
            raise ValueError(
                "--check-reference translates --check-source, which must be given, too. "
                f"Received: {str(reference)!r} alone."
            )
        files = read_run_config(model.parent).get("files", {})
        if not files.get("valid_source"):
            raise ValueError(
                "An export is checked on held-out sentences, and the run recorded none: give "
                f"--check-source. Received: {str(model)!r}."
            )
        source, reference = Path(files["valid_source"][0]), Path(files["valid_target"][0])
        if not source.is_file() or not reference.is_file():
            raise FileNotFoundError(
                "An export is checked on held-out sentences, and those that the run recorded are "
                f"not there: give --check-source. Received: {str(source)!r}, {str(reference)!r}."
            )
    if reference:
        check_parallel(source, reference)

    def beginning(file):
        return list(itertools.islice(read_lines(file), CHECKED))

    return beginning(source), beginning(reference) if reference else None
