"""`kformer export`."""

import enum
import itertools
from pathlib import Path
from typing import Annotated

import typer

from kformer.cli.checked_exports import Exports, show_reports, write_exports
from kformer.cli.model import check_is_keras
from kformer.cli.terminal.quiet import quiet
from kformer.export.saved_model.serving_files import check_serving_folder
from kformer.export.tflite.report import report_path
from kformer.export.web.litert_js import find_litert_js
from kformer.files import check_writable
from kformer.text.text_files import read_lines
from kformer.training.data.parallel_files import check_parallel
from kformer.training.run.run_config import read_run_config

Precision = enum.StrEnum("Precision", ["float32", "float16", "int8", "int4"])
CHECKED = 1000  # Sentences at most, from the beginning of the file.


def export(
    model: Annotated[Path, typer.Argument(help="A .keras file.")],
    saved_model: Annotated[
        Path | None,
        typer.Option(
            help="Folder of versions for TF Serving; adds the next one, and says in a README there "
            "how to serve it."
        ),
    ] = None,
    tflite: Annotated[Path | None, typer.Option(help="The .tflite file to write.")] = None,
    web: Annotated[
        Path | None,
        typer.Option(
            help="New folder for a web page that translates in the browser, with a .tflite file."
        ),
    ] = None,
    litert_js: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the npm package @litertjs/core, for the web page, else it is looked "
            "for in node_modules, here and above."
        ),
    ] = None,
    beam_size: Annotated[
        int, typer.Option(help="Sequences kept at every step; 1 is greedy search.")
    ] = 1,
    length_penalty: Annotated[
        float, typer.Option(help="0 prefers short translations, 1 long ones.")
    ] = 0.6,
    max_source_length: Annotated[
        int | None,
        typer.Option(
            help="Most ids of a sentence in the .tflite file, with 6 bytes for each; else 128."
        ),
    ] = None,
    precision: Annotated[
        Precision,
        typer.Option(
            help="Of the weights in the .tflite file. float16: half the size. int8: smaller and "
            "faster; some translations differ, and the table says how many. int4: smaller still."
        ),
    ] = Precision.float32,
    batch: Annotated[
        int,
        typer.Option(help="The .tflite file can also translate so many sentences at once.", min=1),
    ] = 1,
    xla: Annotated[
        bool,
        typer.Option(
            "--xla",
            help="The SavedModel is for a server that was started with "
            "--xla_cpu_compilation_enabled: faster, but for seconds where a shape is new.",
        ),
    ] = False,
    max_batch_tokens: Annotated[
        int | None,
        typer.Option(
            help="Most ids, in all texts of a request, that the SavedModel accepts; else as many "
            "as 64 of the longest sources and targets have."
        ),
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Of the translator; kept in the .tflite file.")
    ] = None,
    citation: Annotated[
        str | None, typer.Option(help="How to cite it; kept in the .tflite file.")
    ] = None,
    source_language: Annotated[
        str | None, typer.Option(help="Such as de; kept in the .tflite file.")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(help="Such as en; kept in the .tflite file.")
    ] = None,
    check_source: Annotated[
        Path | None,
        typer.Option(help="Sentences to compare with Python, else the run's validation files."),
    ] = None,
    check_reference: Annotated[
        Path | None, typer.Option(help="Their true translations, for BLEU.")
    ] = None,
):
    """Write a SavedModel, a .tflite file, a web page, and prove that they say what Python says."""
    check_is_keras(model, "can be exported")
    if saved_model is None and tflite is None and web is None:
        raise ValueError("Say what to write: --saved-model DIR, --tflite FILE, --web DIR, or more.")
    _check_places(saved_model, tflite, web)
    if web:
        litert_js = find_litert_js(litert_js)
    elif litert_js:
        raise ValueError(
            f"--litert-js is for a web page: give --web, too. Received: {str(litert_js)!r} alone."
        )
    texts, references = _held_out(model, check_source, check_reference)
    with quiet():
        import kformer

        translator = kformer.load(model)
    about = {
        "source_language": source_language,
        "target_language": target_language,
        "licence": licence,
        "citation": citation,
    }
    exports = Exports(
        saved_model=saved_model,
        tflite=tflite,
        web=web,
        litert_js=litert_js,
        beam_size=beam_size,
        length_penalty=length_penalty,
        max_source_length=max_source_length,
        precision=str(precision),
        batch_size=batch,
        xla=xla,
        max_batch_tokens=max_batch_tokens,
        about={name: value for name, value in about.items() if value is not None},
    )
    reports = write_exports(translator, texts, references, exports)
    show_reports(reports)
    for path in (saved_model, tflite, web):
        if path:
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
