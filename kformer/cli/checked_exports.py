"""Writes what `kformer export` and `kformer demo` export, and shows how it compares."""

import shutil
import tempfile
from pathlib import Path

import typer

from kformer.cli.terminal.quiet import quiet


def write_exports(
    translator,
    texts,
    references=None,
    *,
    saved_model=None,
    tflite=None,
    web=None,
    litert_js=None,
    beam_size=1,
    length_penalty=0.6,
    max_source_length=None,
    precision="float32",
    batch_size=1,
    xla=False,
    max_batch_tokens=None,
    about=None,
):
    """Writes the forms asked for; they appear together, if all of them say what Python says.

    Returns `Report`s: of Python, the SavedModel, the `.tflite` file.
    """
    with quiet() as say:
        from kformer.decoding.search_ids import make_search
        from kformer.export import (
            ServedTranslator,
            Verifier,
            export_saved_model,
            export_tflite,
            export_web_page,
        )
        from kformer.export.saved_model.batch_limits import batch_limits
        from kformer.export.tflite.report import write_receipt
        from kformer.export.tflite.writer import check_tflite
        from kformer.files import Publication
        from kformer.pocket import PocketTranslator

        # What is wrong shows now, and not after minutes.
        make_search(translator.target_tokenizer, beam_size, length_penalty)
        if saved_model:
            batch_limits(translator.max_source_length, max_batch_tokens, xla)
        if tflite or web:
            wanted = tflite or Path("translator.tflite")
            check_tflite(translator, wanted, max_source_length, precision, batch_size)

        sentences = f"{len(texts):,} sentences"
        say(f"Translating {sentences} in Python, to compare with ...")
        verifier = Verifier(translator, texts, references, beam_size, length_penalty)

        def check_served(path):
            say(f"Translating {sentences} with the SavedModel ...")
            return verifier.verify_served(ServedTranslator(path), path)

        def check_pocket(path):
            say(f"Translating {sentences} with the .tflite file ...")
            pocket = PocketTranslator(path)
            length, room = (pocket.manifest[f"max_source_{unit}"] for unit in ("length", "bytes"))
            exact = precision == "float32"
            form = ".tflite" if exact else f".tflite {precision}"
            verifier.verify(form, pocket, path, length, exact, room, pocket.tokenize)

        with tempfile.TemporaryDirectory() as folder, Publication() as together:
            if tflite or web:  # First: while it converts, nothing is where a server looks.
                say(f"Converting to a .tflite file, {precision} ...")
                file = export_tflite(
                    translator,
                    Path(folder) / "translator.tflite",
                    beam_size,
                    length_penalty,
                    max_source_length,
                    precision,
                    batch_size,
                    check_pocket,
                    examples=texts,
                    about={name: said for name, said in (about or {}).items() if said is not None},
                )
            if tflite:
                with together.writing(tflite) as temporary:
                    shutil.copyfile(file, temporary)
                write_receipt(
                    together, tflite, verifier.reports[-1], verifier.reports[0], precision
                )
            if web:
                say("Writing the web page ...")
                export_web_page(file, web, litert_js, together)
            if saved_model:
                say("Writing the SavedModel ...")
                export_saved_model(
                    translator,
                    saved_model,
                    beam_size,
                    length_penalty,
                    check_served,
                    xla,
                    texts,
                    max_batch_tokens,
                    together,
                )
                verifier.reports.insert(1, verifier.reports.pop())  # Before the .tflite file's.
    return verifier.reports


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
