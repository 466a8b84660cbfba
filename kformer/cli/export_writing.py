"""Writes the forms of a model, compares their answers with Python's, and prints a table."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

import kformer
from kformer import export
from kformer.cli.terminal.streams import quiet
from kformer.export.tflite.tflite_report import write_report
from kformer.files import Publication
from kformer.json_files import read_json
from kformer.kinds import TRANSLATOR, known_kind


def write_exports(
    model: Any,
    texts: Sequence[str],
    references: Any,
    exports: Any,
    training: Mapping[str, Any] | None = None,
):
    """Writes the forms; they appear together, if each answers as Python does.

    Args:
        texts, references: Held-out sentences, or prompts; their translations, for BLEU, or their
            labels, for accuracy, or None.
        training: Facts about the training run, for the model cards; None if they are not known.
    """
    with quiet() as say:
        if known_kind(model) is TRANSLATOR:
            if model.target_languages and exports.target_language:
                model = model.into(exports.target_language)
            model.about |= exports.about
        if exports.shortlist:
            model.shortlist = kformer.Shortlist.load(exports.shortlist)
        _check(model, exports)
        doing = known_kind(model).doing

        def say_running(where):
            say(f"{doing} {len(texts):,} sentences {where} ...")

        say_running("in Python, to compare with")
        search, tokenize = (exports.beam_size, exports.length_penalty), exports.tokenize
        verifier = export.Verifier(model, texts, references, *search, tokenize)
        with Publication() as together:
            # The SavedModel last: servers must not find it while the others are being made.
            if exports.needs_tflite:
                _write_tflite(model, exports, verifier, together, say, say_running, training)
            if exports.saved_model:
                _write_saved_model(model, exports, verifier, together, say, say_running, training)
                verifier.reports.insert(1, verifier.reports.pop())  # Before the .tflite file's.
            for path in filter(None, (exports.ctranslate2, exports.argos)):
                _write_ctranslate2(
                    path, model, exports, verifier, together, say, say_running, training
                )
    return verifier.reports


def _check(model, exports):
    """Raises errors in the arguments before minutes of work."""
    from kformer.export.argos_package import check_argos
    from kformer.export.ctranslate2_folder import check_ctranslate2
    from kformer.export.saved_model.warmup import batch_limits
    from kformer.export.tflite.tflite_writer import check_tflite

    if exports.shortlist and (exports.ctranslate2 or exports.argos):
        raise ValueError(
            "CTranslate2 searches among all ids: export it without --shortlist. "
            f"Received: {str(exports.shortlist)!r} with "
            f"{str(exports.ctranslate2 or exports.argos)!r}."
        )
    if exports.saved_model:
        has_target = known_kind(model).has_target
        batch_limits(model.max_source_length, exports.max_batch_tokens, exports.xla, has_target)
    if exports.needs_tflite:
        check_tflite(
            model,
            exports.tflite or Path("model.tflite"),
            exports.beam_size,
            exports.length_penalty,
            exports.max_source_length,
            exports.precision,
            exports.batch,
            exports.signature_names,
        )
    if exports.argos:
        check_argos(model, exports.argos, exports.argos_sentences, str(exports.precision))
    if exports.ctranslate2:
        check_ctranslate2(
            model,
            exports.ctranslate2,
            str(exports.precision),
            exports.beam_size,
            exports.length_penalty,
        )


def _write_tflite(model, exports, verifier, together, say, say_running, training):
    """Writes the `.tflite` file, the web page and the apps around it, or some of them."""

    def check(path):
        say_running("with the .tflite file")
        exact = exports.precision == "float32"
        form = ".tflite" if exact else f".tflite {exports.precision}"
        verifier.verify_pocket(form, kformer.load(path), path, exact)

    say(f"Converting to a .tflite file, {exports.precision} ...")
    with tempfile.TemporaryDirectory() as folder:
        file = export.export_tflite(
            model,
            Path(folder) / "model.tflite",
            exports.beam_size,
            exports.length_penalty,
            exports.max_source_length,
            exports.precision,
            exports.batch,
            check,
            examples=verifier.texts,
            about=exports.about,
            signatures=exports.signature_names,
        )
        if exports.tflite:
            with together.writing(exports.tflite) as temporary:
                shutil.copyfile(file, temporary)
            python, report = verifier.reports
            measure = verifier.answers.measure
            facts = (exports.precision, measure, file, training)
            write_report(together, exports.tflite, report, python, *facts)
        if exports.web:
            say("Writing the web page ...")
            export.export_web_page(file, exports.web, exports.litert_js, together)
        if exports.android:
            export.export_android_project(file, exports.android, together)
        if exports.ios:
            export.export_ios_project(file, exports.ios, together)


def _write_saved_model(model, exports, verifier, together, say, say_running, training):
    def check(path):
        say_running("with the SavedModel")
        return verifier.verify_served(kformer.load(path), path)

    say("Writing the SavedModel ...")
    export.export_saved_model(
        model,
        exports.saved_model,
        exports.beam_size,
        exports.length_penalty,
        check,
        exports.xla,
        verifier.texts,
        exports.max_batch_tokens,
        together,
        training,
    )


def _write_ctranslate2(path, model, exports, verifier, together, say, say_running, training):
    from kformer.export.ctranslate2_translator import DESCRIPTION, CTranslate2Translator
    from kformer.export.model_card import CARD, model_card, size_facts

    exact, is_package = exports.precision == "float32", path is exports.argos
    name = "Argos Translate" if is_package else "CTranslate2"
    form = name if exact else f"{name} {exports.precision}"
    # CTranslate2 ends the search of several beams by a rule of its own, so that a few translations
    # differ: greedy search shows that the folder holds the model.
    greedy = verifier
    if verifier.options.beam_size > 1:
        say_running("greedily in Python, to compare with")
        copied = model.copy()
        copied.search_defaults = None
        references, tokenize = verifier.references, exports.tokenize
        greedy = export.Verifier(copied, verifier.texts, references, tokenize=tokenize)

    def check(path):
        say_running("with CTranslate2")
        most = model.max_source_length
        folder = CTranslate2Translator(path, options=greedy.options)
        report = greedy.verify(form, folder, path, most, exact)
        if greedy is not verifier:
            beams = f"{form}, {verifier.options.beam_size} beams"
            report = verifier.verify(beams, CTranslate2Translator(path), path, most, exact=False)
        facts = {
            **read_json(path / DESCRIPTION, rule="The description must be as it was written."),
            **size_facts(model),
            "precision": str(exports.precision),
            "beam_size": verifier.options.beam_size,
            "length_penalty": verifier.options.length_penalty,
            "bytes": report.bytes,
            "checked": _checked(report, verifier),
        }
        card = model_card(f"{'package' if is_package else 'folder'} for {name}", facts, training)
        (path / CARD).write_text(card, "utf-8")

    say(f"Writing the model for {name}, {exports.precision} ...")
    precision, search = str(exports.precision), (exports.beam_size, exports.length_penalty)
    if is_package:
        export.export_argos_package(
            model, path, exports.argos_sentences, precision, check, together
        )
    else:
        export.export_ctranslate2(
            model,
            path,
            precision,
            check,
            together,
            beam_size=search[0],
            length_penalty=search[1],
        )
    if greedy is not verifier:
        verifier.reports[-1:-1] = greedy.reports[1:]


def _checked(report, verifier):
    """Returns the results of a check, as a SavedModel's report has them."""
    python, measure = verifier.reports[0], verifier.answers.measure
    checked = {"sentences": report.total, "equal": report.equal}
    if measure:
        checked[measure] = getattr(report, measure)
        checked[f"{measure}_of_python"] = getattr(python, measure)
    if report.signature:
        checked[f"{measure}_signature"] = report.signature
    return checked


def show_reports(reports: Any):
    """Prints the reports as a table."""
    classified = reports[0].accuracy is not None
    measure = "accuracy %" if classified else "BLEU" if reports[0].bleu is not None else ""
    width = max(19, *(len(report.form) + 2 for report in reports))
    typer.echo(f"{'form':<{width}}{'MB':>8}{measure:>12}  as Python")
    for report in reports:
        size = f"{report.bytes / 1e6:.1f}" if report.bytes else ""
        score = 100 * report.accuracy if classified else report.bleu
        score = "" if score is None else f"{score:.2f}"
        agreement = f"{report.equal} of {report.total}"
        if report.ties:
            agreement += f", {report.ties} others at a tie"
        if report.tokenizer_ties:
            agreement += f", {report.tokenizer_ties} at a tie of the tokenizer"
        if report.different:
            agreement += f", {report.different} otherwise"
        typer.echo(f"{report.form:<{width}}{size:>8}{score:>12}  {agreement}")
    if reports[0].signature:
        typer.echo(f"BLEU: {reports[0].signature}")
    if reports[0].bleu_without_shortlist is not None:
        typer.echo(f"Python without the shortlist: BLEU {reports[0].bleu_without_shortlist:.2f}")
    doubts = {report.form: str(report.doubt) for report in reports if report.doubt}
    if len({*doubts.values()}) == 1:  # In all forms the same.
        doubts = {"Doubt": next(iter(doubts.values()))}
    for form, doubt in doubts.items():
        typer.echo(f"{form}: {doubt}.")
