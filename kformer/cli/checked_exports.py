"""Writes what `kformer export` and `kformer demo` export, and shows how it compares."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import typer

from kformer.cli.terminal.quiet import quiet


@dataclass(frozen=True)
class Exports:
    """The forms to export, and how.

    Attributes:
        saved_model, tflite, web: Where to write each form; None leaves it out.
        litert_js: See `kformer.export.export_web_page`.
        beam_size, length_penalty: The search of all forms.
        max_source_length, precision, batch_size, about: See `kformer.export.export_tflite`.
        xla, max_batch_tokens: See `kformer.export.export_saved_model`.
    """

    saved_model: Path | None = None
    tflite: Path | None = None
    web: Path | None = None
    litert_js: Path | None = None
    beam_size: int = 1
    length_penalty: float = 0.6
    max_source_length: int | None = None
    precision: str = "float32"
    batch_size: int = 1
    xla: bool = False
    max_batch_tokens: int | None = None
    about: dict[str, str] = field(default_factory=dict)


def write_exports(translator, texts, references, exports):
    """Writes the forms; they appear together, if each translates as Python does.

    Args:
        translator: `kformer.Translator`.
        texts, references: Held-out sentences; their translations for BLEU, or None.
        exports: `Exports`.

    Returns:
        list of `kformer.export.Report`: of Python, the SavedModel, the `.tflite` file.
    """
    with quiet() as say:
        from kformer.export import Verifier
        from kformer.files import Publication

        _check(translator, exports)
        say(f"Translating {len(texts):,} sentences in Python, to compare with ...")
        verifier = Verifier(
            translator, texts, references, exports.beam_size, exports.length_penalty
        )
        with Publication() as together:
            # The SavedModel last: servers must not find it while the others are being made.
            if exports.tflite or exports.web:
                _write_tflite(translator, exports, verifier, together, say)
            if exports.saved_model:
                _write_saved_model(translator, exports, verifier, together, say)
                verifier.reports.insert(1, verifier.reports.pop())  # Before the .tflite file's.
    return verifier.reports


def _check(translator, exports):
    """Raises errors in the arguments before minutes of work."""
    from kformer.decoding.search_ids import make_search
    from kformer.export.saved_model.batch_limits import batch_limits
    from kformer.export.tflite.writer import check_tflite

    make_search(translator.target_tokenizer, exports.beam_size, exports.length_penalty)
    if exports.saved_model:
        batch_limits(translator.max_source_length, exports.max_batch_tokens, exports.xla)
    if exports.tflite or exports.web:
        check_tflite(
            translator,
            exports.tflite or Path("translator.tflite"),
            exports.max_source_length,
            exports.precision,
            exports.batch_size,
        )


def _write_tflite(translator, exports, verifier, together, say):
    """Writes the `.tflite` file, the web page around it, or both."""
    from kformer.export import export_tflite, export_web_page
    from kformer.export.tflite.report import write_report
    from kformer.pocket import PocketTranslator

    def check(path):
        say(f"Translating {len(verifier.texts):,} sentences with the .tflite file ...")
        pocket = PocketTranslator(path)
        length, room = (pocket.manifest[f"max_source_{unit}"] for unit in ("length", "bytes"))
        exact = exports.precision == "float32"
        form = ".tflite" if exact else f".tflite {exports.precision}"
        verifier.verify(form, pocket, path, length, exact, room, pocket.tokenize)

    say(f"Converting to a .tflite file, {exports.precision} ...")
    with tempfile.TemporaryDirectory() as folder:
        file = export_tflite(
            translator,
            Path(folder) / "translator.tflite",
            exports.beam_size,
            exports.length_penalty,
            exports.max_source_length,
            exports.precision,
            exports.batch_size,
            check,
            examples=verifier.texts,
            about=exports.about,
        )
        if exports.tflite:
            with together.writing(exports.tflite) as temporary:
                shutil.copyfile(file, temporary)
            python, report = verifier.reports
            write_report(together, exports.tflite, report, python, exports.precision)
        if exports.web:
            say("Writing the web page ...")
            export_web_page(file, exports.web, exports.litert_js, together)


def _write_saved_model(translator, exports, verifier, together, say):
    from kformer.export import ServedTranslator, export_saved_model

    def check(path):
        say(f"Translating {len(verifier.texts):,} sentences with the SavedModel ...")
        return verifier.verify_served(ServedTranslator(path), path)

    say("Writing the SavedModel ...")
    export_saved_model(
        translator,
        exports.saved_model,
        exports.beam_size,
        exports.length_penalty,
        check,
        exports.xla,
        verifier.texts,
        exports.max_batch_tokens,
        together,
    )


def show_reports(reports):
    """Prints the reports as a table."""
    typer.echo(f"{'form':<15}{'MB':>8}{'sentences/s':>13}{'BLEU':>8}  as Python")
    for report in reports:
        size = f"{report.bytes / 1e6:.1f}" if report.bytes else ""
        score = f"{report.bleu:.2f}" if report.bleu is not None else ""
        agreement = f"{report.equal} of {report.total}"
        if report.ties:
            agreement += f", {report.ties} others at a tie"
        if report.tokenizer_ties:
            agreement += f", {report.tokenizer_ties} at a tie of the tokenizer"
        speed = f"{report.sentences_per_second:.1f}"
        if report.others:
            agreement += f", {report.others} otherwise"
        typer.echo(f"{report.form:<15}{size:>8}{speed:>13}{score:>8}  {agreement}")
