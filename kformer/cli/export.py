"""`kformer export`."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

import kformer
from kformer.cli.command_options import with_options_of
from kformer.cli.common_models import KerasModel, check_is_keras
from kformer.cli.export_options import Exports, beginnings, held_out
from kformer.cli.export_writing import show_reports, write_exports
from kformer.cli.terminal.next_steps import advise, suggest
from kformer.cli.terminal.streams import quiet
from kformer.export.saved_model.serving_files import check_serving_folder
from kformer.export.tflite.tflite_report import card_path, report_path
from kformer.export.web.litert_js import find_litert_js
from kformer.files import check_writable
from kformer.kinds import EXPORTED, LANGUAGE_MODEL, TRANSLATOR, kind_of, kinds_in_words
from kformer.text.bleu_tokenizers import bleu_tokenizer, warn_without_words

_OF_TRANSLATORS = (
    "web",
    "litert_js",
    "android",
    "ios",
    "ctranslate2",
    "argos",
    "target_language",
    "shortlist",
    "tokenize",
)
_OF_SEARCHES = ("beam_size", "length_penalty")


@with_options_of(Exports)
def export(
    model: KerasModel,
    check_source: Annotated[
        Path | None,
        typer.Option(
            help="Sentences to compare with Python, of a language model their beginnings; by "
            "default the run's validation files.",
            rich_help_panel="Check",
        ),
    ] = None,
    check_reference: Annotated[
        Path | None,
        typer.Option(
            help="Their reference translations, for BLEU; of a classifier their labels, one on "
            "each line, for accuracy.",
            rich_help_panel="Check",
        ),
    ] = None,
    **settings: Any,
):
    """Write a SavedModel, a .tflite file, a web page, an app or a model for CTranslate2 or Argos.

    The written forms are checked: they agree with Python.
    """
    check_is_keras(model, "can be exported")
    exports = Exports(**settings)
    if not exports.paths:
        raise ValueError(
            "Say what to write: --saved-model DIR, --tflite FILE, --web DIR, --android DIR, "
            "--ios DIR, --ctranslate2 DIR, --argos FILE, or more."
        )
    _check_kind(model, exports)
    _check_places(exports)
    if exports.web:
        exports = dataclasses.replace(exports, litert_js=find_litert_js(exports.litert_js))
    elif exports.litert_js:
        raise ValueError(
            "--litert-js is for a web page: give --web, too. "
            f"Received: {str(exports.litert_js)!r} alone."
        )
    if exports.argos_sentences and not exports.argos:
        raise ValueError(
            "--argos-sentences is for a package: give --argos, too. "
            f"Received: {str(exports.argos_sentences)!r} alone."
        )
    bleu_tokenizer(exports.tokenize, exports.target_language)
    texts, references = held_out(model, check_source, check_reference)
    with quiet():
        loaded = kformer.load(model)
        if kind_of(loaded) is LANGUAGE_MODEL:
            texts = beginnings(loaded, texts)
    if kind_of(loaded) is TRANSLATOR and references:
        language = exports.target_language or loaded.target_language
        warn_without_words(references, bleu_tokenizer(exports.tokenize, language))
    training = _training_facts(model.parent)
    show_reports(write_exports(loaded, texts, references, exports, training))
    for path in exports.paths:
        typer.echo(f"Written: {path}")
    if exports.web:
        suggest("python3", "-m", "http.server", "--directory", exports.web)
    if exports.android:
        advise(f"open {exports.android} in Android Studio and run `app`")
    if exports.ios:
        advise(f"on a Mac, run `pod install` in {exports.ios} and open Translator.xcworkspace")
    if exports.tflite and kind_of(loaded) is TRANSLATOR:
        suggest("kformer", "serve", exports.tflite)
    if exports.saved_model:
        suggest("docker", "compose", "--project-directory", exports.saved_model, "up")


def _training_facts(folder):
    from kformer.training.run.training_facts import training_facts  # It imports NumPy.

    return training_facts(folder)


def _check_kind(model, exports):
    """Refuses kinds of models without exports, and options that a kind has no use for."""
    from kformer.tasks.keras_file import kind_in  # It imports SentencePiece.

    kind = kind_in(model)
    if kind is None:  # `kformer.load` will say why.
        return
    if kind not in EXPORTED:
        raise ValueError(
            f"{kinds_in_words(EXPORTED).capitalize()} can be exported. "
            f"Received: {str(model)!r}, which holds a {kind.words}."
        )
    useless = () if kind is TRANSLATOR else _OF_TRANSLATORS
    useless += () if kind.searches else _OF_SEARCHES
    options = [name for name in useless if getattr(exports, name) != getattr(Exports, name)]
    if options:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        search = "" if kind.searches else "a search nor "
        raise ValueError(
            f"A {kind.words} has neither {search}a target nor a web page, an app or CTranslate2. "
            f"Received: {flags} with {str(model)!r}."
        )


def _check_places(exports):
    """Refuses paths that could not be written to, or that are in each other's way."""
    saved_model, tflite, web = exports.saved_model, exports.tflite, exports.web
    if saved_model:
        check_serving_folder(saved_model)
    if tflite:
        if tflite.suffix != ".tflite":
            raise ValueError(f"The file's name must end in .tflite. Received: {str(tflite)!r}.")
        check_writable(tflite)
        check_writable(report_path(tflite))
        check_writable(card_path(tflite))
    folders = {
        "a web page": web,
        "an Android project": exports.android,
        "an iOS project": exports.ios,
        "CTranslate2": exports.ctranslate2,
    }
    for form, folder in folders.items():
        if folder:
            rest = [path for name, path in folders.items() if name != form]
            _check_new_folder(
                form, folder, filter(None, (saved_model, tflite, exports.argos, *rest))
            )


def _check_new_folder(form, folder, outputs):
    if folder.exists():
        name = form[0].upper() + form[1:]
        raise FileExistsError(f"{name} needs a new folder. Received: {str(folder)!r}.")
    check_writable(folder)
    for output in outputs:
        if output.resolve().is_relative_to(folder.resolve()):
            raise ValueError(
                f"The folder of {form} holds nothing else. "
                f"Received: {str(output)!r} in {str(folder)!r}."
            )
