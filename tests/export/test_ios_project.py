"""The folder of an iOS project: whole, with a project file that names every file, and its rules."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

import kformer.export
from kformer.export import export_ios_project
from kformer.export.ios.ios_project import FILES, IN_APP, text_script
from kformer.inference.degenerate import degenerate_flags
from kformer.pocket import PocketTranslator
from kformer.text.paragraphs.joining import Piece, join, with_sources
from kformer.text.paragraphs.marks import piece_of_part
from kformer.text.paragraphs.sentence_splitting import halves
from support import SAVED, TESTS
from support.paragraphs import LINES, random_texts
from support.sure_texts import HOSTILE, HOSTILE_LENGTH, checked_answers

FOLDER = Path(kformer.export.__file__).parent / "ios"


@pytest.fixture(scope="module")
def project(toy_tflite, tmp_path_factory):
    return export_ios_project(toy_tflite, tmp_path_factory.mktemp("ios") / "app")


def swift(project):
    return {path.name: path.read_text("utf-8") for path in project.rglob("*.swift")}


def test_the_folder_has_every_file_of_the_package(project, toy_tflite):
    files = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert files == {*FILES}
    templates = {path.name for path in FOLDER.iterdir() if path.suffix not in (".py", ".pyi")}
    made = {"LICENSE", "translator.tflite", "text_rules.txt", "project.pbxproj"}
    assert {*FILES.values()} - made == templates - {"__pycache__", "calls.js"}
    copy = project / "Translator/Resources/translator.tflite"
    assert copy.read_bytes() == toy_tflite.read_bytes()


def objects_of(project):
    """The objects of the project file by their ids, read with a parser of its own."""
    text = (project / "Translator.xcodeproj/project.pbxproj").read_text("utf-8")
    first, text = text.split("\n", 1)
    assert first == "// !$*UTF8*$!"
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[{}()=;,]|\w+', text)

    def value():
        token = tokens.pop(0)
        if token == "{":
            found = {}
            while tokens[0] != "}":
                key = value()
                assert tokens.pop(0) == "="
                found[key] = value()
                assert tokens.pop(0) == ";"
            tokens.pop(0)
            return found
        if token == "(":
            found = []
            while tokens[0] != ")":
                found.append(value())
                assert tokens.pop(0) == ","
            tokens.pop(0)
            return found
        return json.loads(token) if token.startswith('"') else token

    content = value()
    assert not tokens
    return content["objects"], content["rootObject"]


def test_xcode_finds_every_file_at_its_place_and_builds_it_once(project):
    objects, root = objects_of(project)
    [target] = objects[root]["targets"]
    phases = {
        objects[each]["isa"]: objects[each]["files"] for each in objects[target]["buildPhases"]
    }
    built = {phase: {objects[each]["fileRef"] for each in files} for phase, files in phases.items()}
    found = {}

    def walk(group, folder):
        for child in objects[group]["children"]:
            described = objects[child]
            if described["isa"] == "PBXGroup":
                walk(child, folder / described.get("path", ""))
            elif described["sourceTree"] == "<group>":
                found[child] = folder / described["path"]

    walk(objects[root]["mainGroup"], project)
    paths = {path.relative_to(project).as_posix() for path in found.values()}
    assert paths == {*IN_APP} and all(path.is_file() for path in found.values())
    sources = {each for each, path in found.items() if path.suffix == ".swift"}
    assert built["PBXSourcesBuildPhase"] == sources
    assert built["PBXResourcesBuildPhase"] == {*found} - sources
    references = re.findall(r"\b[0-9A-F]{24}\b", json.dumps(objects))
    assert {*references} == {*objects}


def test_the_model_runs_with_xnnpack(project):
    model = swift(project)["TranslatorModel.swift"]
    [options] = re.findall(r"(\w+)\.isXNNPackEnabled = true", model)
    assert f"Interpreter(modelPath: file.path, options: {options})" in model


def test_the_project_file_is_the_same_in_each_export(project, toy_tflite, tmp_path):
    other = export_ios_project(toy_tflite, tmp_path / "other")
    assert objects_of(other) == objects_of(project)
    objects, root = objects_of(project)
    lists = [objects[root], objects[objects[root]["targets"][0]]]
    for described in lists:
        listed = objects[described["buildConfigurationList"]]["buildConfigurations"]
        assert [objects[each]["name"] for each in listed] == ["Debug", "Release"]
    settings = objects[listed[0]]["buildSettings"]
    assert settings["INFOPLIST_KEY_CFBundleDisplayName"] == "Translator de → en"


def test_every_flag_has_the_name_of_python_and_a_message(project):
    enum = re.search(r"enum Flag.*?\n}", swift(project)["KformerTranslator.swift"], re.DOTALL)[0]
    flags = dict(re.findall(r'case (\w+) = "([\w ]+)"', enum))
    strings = FOLDER.parent / "android" / "strings.xml"
    names = {element.get("name") for element in ElementTree.parse(strings).getroot()}
    assert len(flags) == 13 and {flag.replace(" ", "_") for flag in flags.values()} <= names
    messages = re.findall(r"case \.(\w+): \"", swift(project)["ContentView.swift"])
    assert messages == [*flags]


def test_swift_calls_functions_of_the_script_only(project):
    called = set(re.findall(r'call\("(\w+)"', swift(project)["TextRules.swift"]))
    defined = set(re.findall(r"^function (\w+)", text_script(), re.MULTILINE))
    assert len(called) == 6 and called <= defined


@pytest.fixture(scope="module")
def script(project):
    """A function that calls one of the script with rows of arguments, in Node.js."""
    if not shutil.which("node"):
        pytest.skip("Node.js is not installed: apt-get install nodejs.")
    command = [
        "node",
        TESTS / "support/script_runner.mjs",
        project / "Translator/Resources/text_rules.txt",
    ]

    def call(name, rows):
        lines = "".join(f"{json.dumps([name, row])}\n" for row in rows)
        result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in result.stdout.split("\n")[:-1]]

    return call


def as_rows(pieces):
    return [[piece[name] for name in ("before", "source", "after")] for piece in pieces]


def test_lines_are_split_as_in_python(script):
    texts = [[f"{line}\r\n\n {line}", language] for language, line, _ in LINES]
    for (text, _), pieces, (*_, sentences) in zip(
        texts, script("piecesOfText", texts), LINES, strict=True
    ):
        assert "".join(map("".join, as_rows(pieces))) == text
        assert [source for _, source, _ in as_rows(pieces) if source] == 2 * sentences


def test_clauses_are_those_of_python(script):
    texts = random_texts(300, "abcd,;…!? \u00a0、。”\u0301\u200d🏽👩क्")
    texts = list(filter(None, map(str.strip, texts)))
    found = script("piecesOfHalves", [[text] for text in texts])
    for text, pieces in zip(texts, found, strict=True):
        expected = with_sources(map(piece_of_part, halves(text) or ()))
        assert as_rows(pieces) == [list(piece) for piece in expected], ascii(text)


def test_translations_are_joined_as_in_python(script):
    pieces = [("", "Ein Hund.", " "), ("- ", "好。", "\n"), ("", "Ja.", "")]
    translations = ["A dog.", "好。", "Yes."]
    rows = [dict(zip(("before", "source", "after"), piece, strict=True)) for piece in pieces]
    expected = join([Piece(*piece) for piece in pieces], translations)
    assert script("joined", [[rows, translations]]) == [expected]


def test_flags_are_those_of_python(script, toy_tflite):
    manifest = PocketTranslator(toy_tflite).manifest
    special = {"padding": manifest["padding_id"], "end": manifest["end_id"]}
    ids = [[5, 6, 7], [5] * 12, [5, 6, 7, 8] * 4, list(range(5, 60))]
    rows, expected = [], []
    for source in ids:
        for target in ids:
            ends = [special["end"]], [special["end"], special["padding"]]
            rows.append([[*source, *ends[0]], [*target, *ends[1]], False, special])
            expected.append([*degenerate_flags(source, target)])
    assert script("translationFlags", rows) == expected
    assert {flag for flags in expected for flag in flags} == {"loop", "length ratio"}
    cut = [[5, special["end"]], [5, 6], True, special]
    assert script("translationFlags", [cut]) == [["source cut", "length limit"]]


def test_texts_are_read_and_answers_checked_as_in_python(script):
    rows = list(checked_answers(2000))
    readings = script("readingOf", [[text, about] for text, about, *_ in rows])
    arguments = [
        [text, reading, answer]
        for (text, _, answer, _), reading in zip(rows, readings, strict=True)
    ]
    answers = script("checkedAnswer", arguments)
    for (*row, expected), reading, answer in zip(rows, readings, answers, strict=True):
        got = [reading["read"], answer["text"], answer["flags"], answer.get("quality")]
        assert got == expected, ascii(row)
    assert {reading["isRaised"] for reading in readings} == {True, False}
    flags = Counter(flag for *_, (*_, flags, _) in rows for flag in flags)
    assert len(flags) == 9 and min(flags.values()) > 20, flags


def test_hostile_texts_take_linear_time(script):
    texts = [f"{part * (HOSTILE_LENGTH // len(part))} 2017" for part in HOSTILE]
    start = time.perf_counter()
    script("sureFlags", [[text, f"-{text}"] for text in texts])
    assert time.perf_counter() - start < 0.2 * len(texts)  # Seconds, of which it takes a tenth.


def test_only_new_folders_and_files_that_translate_are_taken(refused, toy_keras, tmp_path):
    [old] = (SAVED / "0.1.0").glob("*.tflite")
    with pytest.raises(ValueError, match=r"Received: format=1, .* in '.*translator.tflite'"):
        export_ios_project(old, tmp_path / "app")
    folder = tmp_path / "old"
    folder.mkdir()
    message = refused("export", toy_keras, "--ios", folder)
    assert f"An iOS project needs a new folder. Received: '{folder}'" in message


@pytest.mark.prove
def test_the_command_writes_both_projects_and_names_the_next_steps(toy_keras, tmp_path):
    folders = [tmp_path / "android", tmp_path / "ios"]
    options = "--android", str(folders[0]), "--ios", str(folders[1])
    command = ["kformer", "export", str(toy_keras), *options]
    code = f"import sys; sys.argv = {command}; from kformer.cli import main; main()"
    terminal, output = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=output, check=True)
    os.close(output)
    lines = os.read(terminal, 9999).decode().splitlines()
    assert {f"Written: {folder}" for folder in folders} <= {*lines}
    assert f"Next: open {folders[0]} in Android Studio and run `app`" in lines
    on_mac = f"Next: on a Mac, run `pod install` in {folders[1]} and open Translator.xcworkspace"
    assert on_mac in lines
    assert {*tmp_path.iterdir()} == {*folders}
    files = [*tmp_path.rglob("translator.tflite")]
    assert len({path.read_bytes() for path in files}) == 1 and len(files) == 2
