"""The folder of an Android project: whole, well-formed, and without a number of its model."""

import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest

import kformer.export
from kformer.export import export_android_project
from kformer.export.android.android_project import FILES
from kformer.export.android.text_rules import portable, text_rules
from kformer.text.paragraphs import marks, sentence_splitting
from support import SAVED, toy
from support.android_app import ASSETS, MAIN, PACKAGE, SOURCES, resources
from support.tflite_metadata import with_metadata

FOLDER = Path(kformer.export.__file__).parent / "android"


@pytest.fixture
def project(android_project):
    return android_project


def kotlin(project):
    return {path.name: path.read_text("utf-8") for path in (project / SOURCES).rglob("*.kt")}


def test_the_folder_has_every_file_of_the_package(project, toy_tflite):
    files = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert files == {*FILES}
    templates = {path.name for path in FOLDER.iterdir() if path.suffix not in (".py", ".pyi")}
    made = {"LICENSE", "translator.tflite", "text_rules.json"}
    assert {*FILES.values()} - made == templates - {"__pycache__"}
    assert (project / ASSETS / "translator.tflite").read_bytes() == toy_tflite.read_bytes()


def test_the_readme_describes_this_model(project):
    text = (project / "README.md").read_text("utf-8")
    assert text.startswith("# Translator de → en\n")
    assert "- Licence: CC0\n- Citation: Nobody (2026)\n" in text
    assert "a sentence over 768 bytes of UTF-8 or\n  128 ids at clauses" in text


def test_no_kotlin_file_contains_a_size_of_the_model(project, toy_tflite):
    with zipfile.ZipFile(toy_tflite) as archive:
        metadata = json.loads(archive.read("kformer.json"))
    sizes = {value for name, value in metadata.items() if name.startswith("max_")}
    assert {768, 128} <= sizes
    numbers = {
        int(number) for text in kotlin(project).values() for number in re.findall(r"\b\d+", text)
    }
    assert not numbers & sizes


def test_resources_that_are_used_are_defined_and_the_others_are_not_there(project):
    code = "\n".join(kotlin(project).values())
    used = set(re.findall(r"(?<!android\.)\bR\.(\w+)\.(\w+)", code))
    for path in (project / MAIN).rglob("*.xml"):
        used |= set(re.findall(r"\"@(\w+)/([\w.]+)\"", path.read_text("utf-8")))
    assert used == resources(project)


def test_every_flag_has_a_message(project):
    enum = re.search(r"enum class Flag \{(.*?)\n\}", kotlin(project)["Flags.kt"], re.DOTALL)[1]
    flags = re.findall(r"^    ([A-Z_]+),", enum, re.MULTILINE)
    assert len(flags) == 13
    assert {("string", flag.lower()) for flag in flags} <= resources(project)


def test_the_file_stays_uncompressed_in_the_app(project):
    build = (project / "app/build.gradle.kts").read_text("utf-8")
    assert 'androidResources { noCompress += "tflite" }' in build


def test_a_release_keeps_the_classes_that_native_code_names(project):
    build = (project / "app/build.gradle.kts").read_text("utf-8")
    assert "isMinifyEnabled = true" in build and '"proguard-rules.pro")' in build
    rules = (project / "app/proguard-rules.pro").read_text("utf-8")
    imported = re.findall(r"import (com\.google\.[\w.]+)\.\w+", "\n".join(kotlin(project).values()))
    assert imported and all(f"-keep class {package}.** {{ *; }}" in rules for package in imported)


def test_insets_and_padding_are_of_two_views(project):
    layout = ElementTree.parse(project / MAIN / "res/layout/main.xml")
    android = "{http://schemas.android.com/apk/res/android}"
    fitting = [view for view in layout.iter() if view.get(f"{android}fitsSystemWindows")]
    assert fitting == [layout.getroot()]
    assert not any(name.startswith(f"{android}padding") for name in layout.getroot().attrib)


def test_icons_of_the_bars_are_dark_on_light_windows_alone(project):
    for folder, is_light in {"values": True, "values-v27": True, "values-night": False}.items():
        [style] = ElementTree.parse(project / MAIN / f"res/{folder}/themes.xml").getroot()
        items = {item.get("name"): item.text for item in style}
        assert (".Light." in style.get("parent")) == is_light
        assert (items.get("android:windowLightStatusBar") == "true") == is_light


def test_a_name_is_escaped_where_it_stands(toy_tflite, tmp_path):
    odd = with_metadata(toy_tflite, tmp_path / "odd.tflite", source_language="<o'&>")
    project = export_android_project(odd, tmp_path / "app")
    strings = ElementTree.parse(project / MAIN / "res/values/strings.xml").getroot()
    assert strings[0].text == r"Translator <o\'&> → en"


def test_only_files_that_translate_text_are_taken(toy_tflite, tmp_path):
    [old] = (SAVED / "0.1.0").glob("*.tflite")
    with pytest.raises(ValueError, match=r"Received: format=1, .* in '.*translator.tflite'"):
        export_android_project(old, tmp_path / "app")
    few = with_metadata(toy_tflite, tmp_path / "few.tflite", signatures=["tokenize"])
    with pytest.raises(ValueError, match=r"signature 'translate'.* signatures=\['tokenize'\]"):
        export_android_project(few, tmp_path / "app")
    with pytest.raises(FileNotFoundError, match=r"gone\.tflite"):
        export_android_project(tmp_path / "gone.tflite", tmp_path / "app")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.tflite"]


@pytest.mark.prove
def test_a_classifier_is_refused(classifier_tflite, tmp_path):
    with pytest.raises(ValueError, match=r"A translator is needed.* '.*classifier\.tflite'"):
        export_android_project(classifier_tflite(), tmp_path / "app")


def test_the_command_refuses_projects_of_other_kinds_of_models(refused, tiny_classifier, tmp_path):
    file = tmp_path / "classifier.keras"
    tiny_classifier.save(file)
    folders = "--android", tmp_path / "a", "--ios", tmp_path / "i"
    message = refused("export", file, *folders)
    assert f"an app or CTranslate2. Received: --android, --ios with '{file}'" in message


def test_an_old_folder_is_not_replaced(refused, toy_keras, toy_tflite, tmp_path):
    old = tmp_path / "app"
    old.mkdir()
    message = refused("export", toy_keras, "--android", old)
    assert f"An Android project needs a new folder. Received: '{old}'" in message
    with pytest.raises(IsADirectoryError, match="app"):
        export_android_project(toy_tflite, old)


@pytest.mark.prove
def test_the_command_writes_a_project(toy_keras, tmp_path):
    printed = toy.succeed("export", toy_keras, "--android", tmp_path / "app", "--precision", "int8")
    assert f"Written: {tmp_path / 'app'}" in printed.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"app"}
    assert "int8" in (tmp_path / "app/README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"[^\W\d_]\.", r"[\p{L}\p{Nl}\p{No}]\."),
        (r"\d{1,3}[.)]", r"[\p{Nd}]{1,3}[\.\)]"),
        (r"[^\w.]x\Z", r"[^\p{L}\p{N}_\.]x\z"),
        (r"a\b|(?:b|$)[$[]", r"a(?![\p{L}\p{N}_])|(?:b|\z)[\$\[]"),
    ],
)
def test_patterns_are_written_for_java_and_icu(pattern, expected):
    assert portable(pattern) == expected


def test_the_rules_are_those_of_python():
    rules = json.loads(json.dumps(text_rules()))
    assert rules["languages"]["de"]["ordinals"]
    assert rules["degenerate"] == {"min_echoes": 8, "min_times": 3, "max_ratio": 3, "slack": 10}
    patterns = rules["patterns"].items()
    assert all(r"\d" not in pattern and r"\w" not in pattern for _, pattern in patterns)
    assert rules["patterns"]["number_mark"] == portable(marks.NUMBER_MARK.pattern)
    assert rules["patterns"]["clause_end"] == portable(sentence_splitting.CLAUSE_END.pattern)
    read = set(re.findall(r'pattern\("(\w+)"\)', (FOLDER / "TextRules.kt").read_text("utf-8")))
    assert read == {*rules["patterns"]}


def test_the_package_for_other_apps_needs_no_file_of_this_one(project):
    for path in (project / PACKAGE).iterdir():
        assert "com.example" not in path.read_text("utf-8")
