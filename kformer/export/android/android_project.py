"""Writes the Android project around a `.tflite` file."""

from pathlib import Path
from xml.sax.saxutils import escape

from kformer.export.android.text_rules import text_rules
from kformer.export.app_project import (
    LICENCE,
    MODEL,
    filled,
    project_values,
    read_translator,
    write_project,
)
from kformer.files import Publication, json_text

_PACKAGE = "kformer.export.android"
_MAIN = "app/src/main"
_STRINGS, _README, _RULES = "strings.xml", "project_readme.md", "text_rules.json"
TRANSLATOR = (  # The Kotlin package `kformer`.
    "KformerTranslator.kt",
    "TranslatorModel.kt",
    "Metadata.kt",
    "Sentences.kt",
    "Abbreviations.kt",
    "Marks.kt",
    "Pieces.kt",
    "Flags.kt",
    "Readings.kt",
    "TextRules.kt",
)
FILES = {  # A path in the project -> a file of this package, or what is made of the model.
    "README.md": _README,
    "LICENSE": LICENCE,
    "settings.gradle.kts": "settings.gradle.kts",
    "build.gradle.kts": "build.gradle.kts",
    "gradle.properties": "gradle.properties",
    "gradle/wrapper/gradle-wrapper.properties": "gradle-wrapper.properties",
    "app/build.gradle.kts": "app.gradle.kts",
    "app/proguard-rules.pro": "proguard-rules.pro",
    f"{_MAIN}/AndroidManifest.xml": "AndroidManifest.xml",
    f"{_MAIN}/assets/{MODEL}": MODEL,
    f"{_MAIN}/assets/{_RULES}": _RULES,
    f"{_MAIN}/res/drawable/icon.xml": "icon.xml",
    f"{_MAIN}/res/drawable/icon_foreground.xml": "icon_foreground.xml",
    f"{_MAIN}/res/drawable-anydpi-v26/icon.xml": "icon_adaptive.xml",
    f"{_MAIN}/res/layout/main.xml": "main.xml",
    f"{_MAIN}/res/values/colors.xml": "colors.xml",
    f"{_MAIN}/res/values/strings.xml": _STRINGS,
    f"{_MAIN}/res/values/themes.xml": "themes.xml",
    f"{_MAIN}/res/values-v27/themes.xml": "themes_v27.xml",
    f"{_MAIN}/res/values-night/themes.xml": "themes_night.xml",
    f"{_MAIN}/kotlin/com/example/translator/MainActivity.kt": "MainActivity.kt",
    "app/src/androidTest/kotlin/com/example/translator/TranslatorTest.kt": "TranslatorTest.kt",
    **{f"{_MAIN}/kotlin/kformer/{name}": name for name in TRANSLATOR},
}


def export_android_project(
    tflite: str | Path, folder: str | Path, publication: Publication | None = None
) -> Path:
    """Writes a project for Android Studio: an app that translates with a `.tflite` file.

    Its Kotlin package `kformer` splits texts, runs the file and flags faults, and can be copied to
    any app; so can the assets.

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
        >>> from kformer.export import export_android_project
        >>> print(export_android_project("de-en.tflite", "android-app"))
        android-app
    """
    tflite, folder = Path(tflite), Path(folder)
    metadata = read_translator(tflite, folder)
    values = project_values(tflite, metadata)
    name = escape(values["name"]).replace("'", r"\'")
    texts = {
        _STRINGS: filled(_PACKAGE, _STRINGS, {"name": name}),
        _README: filled(_PACKAGE, _README, values),
        _RULES: json_text(text_rules()),
    }
    return write_project(_PACKAGE, tflite, folder, FILES, texts, publication)
