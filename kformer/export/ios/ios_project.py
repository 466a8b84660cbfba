"""Writes the iOS project around a `.tflite` file."""

import json
import re
from importlib import resources
from pathlib import Path

from kformer.export.app_project import (
    LICENCE,
    MODEL,
    filled,
    project_values,
    read_translator,
    write_project,
)
from kformer.export.ios.xcode_project import TARGET, xcode_project
from kformer.files import Publication
from kformer.text.paragraphs.abbreviations import read_abbreviations

_PACKAGE = "kformer.export.ios"
_README, _PROJECT, _RULES = "project_readme.md", "project.pbxproj", "text_rules.txt"
_CALLS = "calls.js"
# Of the web page, in an order in which each constant is defined before it is used.
_SCRIPTS = (
    "joining.js",
    "abbreviations.js",
    "marks.js",
    "sentences.js",
    "clauses.js",
    "flags.js",
    "sure-checks.js",
    "readings.js",
)
TRANSLATOR = (  # The group `Kformer`.
    "KformerTranslator.swift",
    "TranslatorModel.swift",
    "Metadata.swift",
    "TextRules.swift",
)
IN_APP = {  # A path in the project -> a file of this package, or what is made of the model.
    f"{TARGET}/TranslatorApp.swift": "TranslatorApp.swift",
    f"{TARGET}/ContentView.swift": "ContentView.swift",
    **{f"{TARGET}/Kformer/{name}": name for name in TRANSLATOR},
    f"{TARGET}/Resources/{MODEL}": MODEL,
    f"{TARGET}/Resources/{_RULES}": _RULES,
}
FILES = {
    "README.md": _README,
    "LICENSE": LICENCE,
    "Podfile": "Podfile",
    f"{TARGET}.xcodeproj/{_PROJECT}": _PROJECT,
    **IN_APP,
}


def export_ios_project(
    tflite: str | Path, folder: str | Path, publication: Publication | None = None
) -> Path:
    """Writes a project for Xcode: an app that translates with a `.tflite` file.

    Its group `Kformer` splits texts, runs the file and flags faults, and can be copied to any app;
    so can the resources.

    Args:
        tflite: A translator that `kformer.export.export_tflite` wrote.
        folder: A new folder.
        publication: `kformer.files.Publication` that the project is part of; if None, its own.

    Returns:
        `Path` of the folder.

    Raises:
        FileNotFoundError: The `.tflite` file is missing.
        IsADirectoryError: The folder exists.
        ValueError: The `.tflite` file holds no translator, or does not take text.

    Examples:
        >>> from kformer.export import export_ios_project
        >>> print(export_ios_project("de-en.tflite", "ios-app"))
        ios-app
    """
    tflite, folder = Path(tflite), Path(folder)
    metadata = read_translator(tflite, folder)
    values = project_values(tflite, metadata)
    texts = {
        _README: filled(_PACKAGE, _README, values),
        _PROJECT: xcode_project(values["name"], IN_APP),
        _RULES: text_script(),
    }
    return write_project(_PACKAGE, tflite, folder, FILES, texts, publication)


def text_script() -> str:
    """Returns the rules of the page, for sentences and flags, as a script that is no module."""
    page, here = resources.files("kformer.export.web"), resources.files(_PACKAGE)
    scripts = [(page / name).read_text("utf-8") for name in _SCRIPTS]
    scripts.append((here / _CALLS).read_text("utf-8"))
    languages = json.dumps(read_abbreviations(), ensure_ascii=False)
    return "\n".join((f"const LANGUAGES = {languages};", *map(_without_modules, scripts)))


def _without_modules(script):
    """Returns a script without imports and exports: all parts share their names."""
    script = re.sub(r"^import\b[^;]*;\n", "", script, flags=re.MULTILINE)
    return re.sub(r"^export (?=async |class|const|function|let)", "", script, flags=re.MULTILINE)
