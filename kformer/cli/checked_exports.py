"""Writes what `kformer export` and `kformer demo` export, and shows how it compares."""

import dataclasses
import enum
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Annotated

import typer

import kformer
from kformer.cli.terminal.quiet import quiet
from kformer.decoding.options import SearchOptions

_PRECISIONS = ("float32", "float16", "int8", "int4", "int4-all")
Precision = enum.StrEnum("Precision", [(name, name) for name in _PRECISIONS])
_DOING = {
    "Translator": "Translating",
    "TextClassifier": "Classifying",
    "LanguageModel": "Continuing",
}
_ABOUT = ("source_language", "target_language", "licence", "citation")
_SEARCH = {field.name: field.metadata["description"] for field in dataclasses.fields(SearchOptions)}


@dataclasses.dataclass(frozen=True)
class Exports:
    """The forms to export, and how: the options of `kformer export`."""

    saved_model: Annotated[
        Path | None,
        typer.Option(
            help="Folder for TensorFlow Serving. The SavedModel becomes its next version; a README "
            "there explains how to serve it."
        ),
    ] = None
    tflite: Annotated[Path | None, typer.Option(help="The .tflite file to write.")] = None
    web: Annotated[
        Path | None,
        typer.Option(
            help="New folder for a web page that translates in the browser with a .tflite file."
        ),
    ] = None
    litert_js: Annotated[
        Path | None,
        typer.Option(
            help="For --web: folder of the npm package @litertjs/core; by default the one in "
            "node_modules, here or in a folder above."
        ),
    ] = None
    ctranslate2: Annotated[
        Path | None,
        typer.Option(
            help="New folder for CTranslate2, with the SentencePiece models; how to search is said "
            "there. Needs kformer[ctranslate2]."
        ),
    ] = None
    beam_size: Annotated[int, typer.Option(help=_SEARCH["beam_size"])] = SearchOptions.beam_size
    length_penalty: Annotated[float, typer.Option(help=_SEARCH["length_penalty"])] = (
        SearchOptions.length_penalty
    )
    max_source_length: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of ids of a source in the .tflite file, which has room for 6 "
            "bytes per id; by default 128."
        ),
    ] = None
    precision: Annotated[
        Precision,
        typer.Option(
            help="Precision of the weights in the .tflite file and for CTranslate2. float16: half "
            "the size. int8: smaller and faster, but some answers differ; the table shows how "
            "many. int4, .tflite alone: smaller still, with a vocabulary of 8 bits; int4-all: "
            "all of 4 bits."
        ),
    ] = Precision.float32
    batch: Annotated[
        int,
        typer.Option(min=1, help="Number of texts that the .tflite file can compute at once."),
    ] = 1
    signatures: Annotated[
        str | None,
        typer.Option(
            help="Signatures of the .tflite file, such as translate,detokenize: others that an app "
            "can do without are left out, which makes it smaller; by default all are there."
        ),
    ] = None
    xla: Annotated[
        bool,
        typer.Option(
            "--xla",
            help="Compile the SavedModel for a server with --xla_cpu_compilation_enabled: faster, "
            "but a new shape takes seconds.",
        ),
    ] = False
    max_batch_tokens: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of ids in all texts of a request to the SavedModel; by default "
            "that of 64 of the longest sources and targets."
        ),
    ] = None
    shortlist: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Table of `kformer shortlist`, kept in the SavedModel and the .tflite file: they "
            "search among the ids that are likely for each sentence alone, which is faster with a "
            "large vocabulary.",
        ),
    ] = None
    licence: Annotated[
        str | None, typer.Option(help="Licence of the model, kept in the .tflite file.")
    ] = None
    citation: Annotated[
        str | None, typer.Option(help="How to cite it, kept in the .tflite file.")
    ] = None
    source_language: Annotated[
        str | None, typer.Option(help="Such as de, kept in the .tflite file.")
    ] = None
    target_language: Annotated[
        str | None,
        typer.Option(
            help="Such as en, kept in the .tflite file. Of a model with several: the one that the "
            "exports then always translate into."
        ),
    ] = None

    @property
    def paths(self):
        """The paths of the forms to write."""
        forms = (self.saved_model, self.tflite, self.web, self.ctranslate2)
        return [path for path in forms if path]

    @property
    def signature_names(self):
        """The signatures that were chosen for the .tflite file; None if none were."""
        return None if self.signatures is None else self.signatures.split(",")

    @property
    def about(self):
        """The metadata of the model that was given, by name."""
        values = {name: getattr(self, name) for name in _ABOUT}
        return {name: value for name, value in values.items() if value is not None}


def write_exports(model, texts, references, exports):
    """Writes the forms; they appear together, if each answers as Python does.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier` or `kformer.LanguageModel`.
        texts, references: Held-out sentences, or prompts; their translations, for BLEU, or their
            labels, for accuracy, or None.
        exports: `Exports`.

    Returns:
        list of `kformer.export.Report`: of Python, the SavedModel, the `.tflite` file, the folder
        for CTranslate2.
    """
    with quiet() as say:
        from kformer.export import Verifier
        from kformer.files import Publication

        if isinstance(model, kformer.Translator) and model.target_languages:
            model = _into(model, exports)
        if exports.shortlist:
            model.shortlist = kformer.Shortlist.load(exports.shortlist)
        _check(model, exports)
        doing = _DOING[type(model).__name__]

        def say_running(where):
            say(f"{doing} {len(texts):,} sentences {where} ...")

        say_running("in Python, to compare with")
        verifier = Verifier(model, texts, references, exports.beam_size, exports.length_penalty)
        with Publication() as together:
            # The SavedModel last: servers must not find it while the others are being made.
            if exports.tflite or exports.web:
                _write_tflite(model, exports, verifier, together, say, say_running)
            if exports.saved_model:
                _write_saved_model(model, exports, verifier, together, say, say_running)
                verifier.reports.insert(1, verifier.reports.pop())  # Before the .tflite file's.
            if exports.ctranslate2:
                _write_ctranslate2(model, exports, verifier, together, say, say_running)
    return verifier.reports


def _into(translator, exports):
    """Returns the translator that is exported: into one language, if that is given."""
    if exports.target_language:
        return translator.into(exports.target_language)
    if exports.web:
        raise ValueError(
            "A web page translates into one language: give --target-language, one of "
            f"{', '.join(translator.target_languages)}. Received: --web alone."
        )
    return translator


def _check(model, exports):
    """Raises errors in the arguments before minutes of work."""
    from kformer.export.ctranslate2.writer import check_ctranslate2
    from kformer.export.saved_model.batch_limits import batch_limits
    from kformer.export.tflite.writer import check_tflite

    SearchOptions(exports.beam_size, exports.length_penalty)
    if exports.shortlist and exports.ctranslate2:
        raise ValueError(
            "CTranslate2 searches among all ids: export it without --shortlist. "
            f"Received: {str(exports.shortlist)!r} with {str(exports.ctranslate2)!r}."
        )
    if exports.saved_model:
        targets = isinstance(model, kformer.Translator)
        batch_limits(model.max_source_length, exports.max_batch_tokens, exports.xla, targets)
    if exports.tflite or exports.web:
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
    if exports.ctranslate2:
        check_ctranslate2(model, exports.ctranslate2, str(exports.precision))


def beginnings(model, texts):
    """Returns prompts for a language model: the first half of the ids of each text, as text."""
    from kformer.text.rows import write_texts  # TensorFlow.

    with warnings.catch_warnings(action="ignore"):  # Of texts that are too long.
        rows = model.source_rows(texts)
    halves = [row[: max(1, min(len(row) - 1, model.max_length) // 2)] for row in rows]
    return write_texts(model.tokenizer, halves)


def _write_tflite(model, exports, verifier, together, say, say_running):
    """Writes the `.tflite` file, the web page around it, or both."""
    from kformer.export import export_tflite, export_web_page
    from kformer.export.tflite.report import write_report

    def check(path):
        say_running("with the .tflite file")
        exact = exports.precision == "float32"
        form = ".tflite" if exact else f".tflite {exports.precision}"
        verifier.verify_pocket(form, kformer.load(path), path, exact)

    say(f"Converting to a .tflite file, {exports.precision} ...")
    with tempfile.TemporaryDirectory() as folder:
        file = export_tflite(
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
            measure = verifier.kind.measure
            write_report(together, exports.tflite, report, python, exports.precision, measure)
        if exports.web:
            say("Writing the web page ...")
            export_web_page(file, exports.web, exports.litert_js, together)


def _write_saved_model(model, exports, verifier, together, say, say_running):
    from kformer.export import export_saved_model

    def check(path):
        say_running("with the SavedModel")
        return verifier.verify_served(kformer.load(path), path)

    say("Writing the SavedModel ...")
    export_saved_model(
        model,
        exports.saved_model,
        exports.beam_size,
        exports.length_penalty,
        check,
        exports.xla,
        verifier.texts,
        exports.max_batch_tokens,
        together,
    )


def _write_ctranslate2(model, exports, verifier, together, say, say_running):
    from kformer.export import Verifier, export_ctranslate2
    from kformer.export.ctranslate2.translator import CTranslate2Translator

    # The folder has no search, and CTranslate2 ranks the sequences of a beam by other rules.
    greedy = verifier
    if exports.beam_size > 1:
        say_running("greedily in Python, to compare with")
        greedy = Verifier(model, verifier.texts, verifier.references)

    def check(path):
        say_running("with CTranslate2")
        exact = exports.precision == "float32"
        form = "CTranslate2" if exact else f"CTranslate2 {exports.precision}"
        most = model.max_source_length
        greedy.verify(form, CTranslate2Translator(path), path, most, exact)

    say(f"Writing the folder for CTranslate2, {exports.precision} ...")
    export_ctranslate2(model, exports.ctranslate2, str(exports.precision), check, together)
    if greedy is not verifier:
        verifier.reports += greedy.reports[1:]


def show_reports(reports):
    """Prints the reports as a table."""
    classified = reports[0].accuracy is not None
    measure = "accuracy %" if classified else "BLEU" if reports[0].bleu is not None else ""
    typer.echo(f"{'form':<19}{'MB':>8}{'sentences/s':>13}{measure:>12}  as Python")
    for report in reports:
        size = f"{report.bytes / 1e6:.1f}" if report.bytes else ""
        score = 100 * report.accuracy if classified else report.bleu
        score = "" if score is None else f"{score:.2f}"
        agreement = f"{report.equal} of {report.total}"
        if report.ties:
            agreement += f", {report.ties} others at a tie"
        if report.tokenizer_ties:
            agreement += f", {report.tokenizer_ties} at a tie of the tokenizer"
        speed = f"{report.sentences_per_second:.1f}"
        if report.others:
            agreement += f", {report.others} otherwise"
        typer.echo(f"{report.form:<19}{size:>8}{speed:>13}{score:>12}  {agreement}")
