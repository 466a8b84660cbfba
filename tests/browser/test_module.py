"""The folder of a page as a module: other pages, bundlers and Node.js import it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

import kformer.pocket
from browser.chromium import served
from kformer.pocket import PocketTranslator
from kformer.pocket.metadata import read_metadata
from support import toy
from support.sure_texts import LOST
from support.tflite_metadata import with_metadata

SITE = Path(__file__).parent / "site"  # Another page, and scripts that import the module.
TEXT = f"{toy.SOURCES[0]} Wir ruft uns!\n\n1. {toy.SOURCES[1]}\n"


@pytest.fixture(scope="module")
def site(folder, tmp_path_factory):
    """The folder of another page, with the exported one in it."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(folder, site / "lib", copy_function=os.link)
    for name in ("index.html", "element.html"):
        shutil.copy(SITE / name, site)
    with served(site) as address:
        yield address


@pytest.fixture(scope="module")
def expected(folder):
    translator = PocketTranslator(folder / "translator.tflite")
    return [answer.text for answer in translator.split_translations(TEXT.split("\n"))]


def test_another_page_translates_as_python_does(browser, site, expected):
    browser("visit", site)
    assert browser("resolve", "translate", TEXT) == "\n".join(expected)
    detailed = browser("resolve", "translation", TEXT)
    assert [line["text"] for line in detailed["lines"]] == expected
    first = detailed["lines"][0]["sentences"]
    assert [sentence["source"] for sentence in first] == [toy.SOURCES[0], "Wir ruft uns!"]
    assert detailed["text"] == "\n".join(expected)
    flags = {
        flag for line in detailed["lines"] for one in line["sentences"] for flag in one["flags"]
    }
    assert set(detailed["flags"]) == flags
    about = browser("resolve", "about")
    assert about["directions"] == [{"source": "de", "target": "en", "isTrained": True}]
    assert about["kind"] == "translator" and about["size"] > 100_000
    texts = [toy.SOURCES[0], "", toy.SOURCES[1]]
    assert browser("resolve", "together", texts) == [toy.TARGETS[0], "", toy.TARGETS[1]]


def test_the_module_stops_and_refuses_and_fails_by_errors_with_codes(browser, site):
    browser("visit", site)
    assert browser("resolve", "aborted", TEXT) == "AbortError"
    assert browser("resolve", "translate", toy.SOURCES[0]) == toy.TARGETS[0]
    refused = browser("resolve", "refusal", "wir", {"target": "fr"})
    assert refused.endswith("has the directions de-en. Received: any-fr.")
    assert browser("resolve", "refusal", 7).endswith("must be a string. Received: number.")
    assert browser("resolve", "settled", TEXT) == ["closed"] * 3
    assert browser("resolve", "failure", "gone.tflite") == [True, "missing model"]
    assert browser("resolve", "failure", "index.html") == [True, "broken model"]


def test_an_element_shows_the_two_fields(browser, site, expected):
    browser("visit", f"{site}element.html")
    shown = browser("resolve", "shown", TEXT)
    assert shown["translation"] == "\n".join(expected) and shown["lines"] == expected
    assert shown["labels"] == ["German", "English"]
    code, message = browser("resolve", "failed", "gone.tflite")
    assert code == "missing model" and "gone.tflite could not be fetched" in message


def installed_in(site, folder):
    """Lets npm packages of a site be found by the name of the exported one."""
    (site / "node_modules").mkdir(parents=True)
    (site / "node_modules" / "kformer-de-en").symlink_to(folder)


def run(*command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_node_translates_as_python_does(browser, folder, expected, tmp_path):
    installed_in(tmp_path, folder)
    shutil.copy(SITE / "translate.mjs", tmp_path)
    printed = json.loads(run("node", "translate.mjs", TEXT, folder=tmp_path))
    assert printed == {"text": "\n".join(expected), "failure": "ENOENT", "closed": "closed"}


def test_capitals_scripts_and_what_a_text_lacks_are_flagged_as_in_python(
    browser, folder, toy_tflite, tmp_path
):
    installed_in(tmp_path, folder)
    shutil.copy(SITE / "checked.mjs", tmp_path)

    def check(file, texts):
        printed = run("node", "checked.mjs", file, json.dumps(texts), folder=tmp_path)
        expected = PocketTranslator(file).split_translations(texts, source_language="de")
        assert json.loads(printed) == [[each.text, [*each.flags]] for each in expected]
        return [(each.text, each.flags) for each in expected]

    answers = check(toy_tflite, [source for source, *_ in LOST])
    assert {"number missed", "address missed"} <= {flag for _, flags in answers for flag in flags}
    demo = Path(kformer.pocket.__file__).parent / "demo.tflite"
    latin = with_metadata(demo, tmp_path / "latin.tflite", scripts=["Latin"])
    assert check(latin, ["GUTEN MORGEN! WO IST DER BAHNHOF?", "Новый дом"]) == [
        ("GOOD MORNING! WHERE IS THE STATION?", ()),
        ("Новый дом", ("unknown characters",)),
    ]


LONG = " ".join(source.rstrip(".") for source in toy.SOURCES[3:9])  # Of more than 16 ids.


def test_a_large_file_answers_alike_for_short_and_for_long_sentences(
    browser, folder, toy_tflite, tmp_path
):
    copy = tmp_path / "page"
    shutil.copytree(folder, copy)
    stages = (copy / "stages.js").read_text("utf-8")
    for name, number in (("LARGE", 0), ("SHORT", 16)):
        stages, count = re.subn(rf"const {name} = [\d_]+", f"const {name} = {number}", stages)
        assert count == 1
    (copy / "stages.js").write_text(stages, "utf-8")
    installed_in(tmp_path, copy)
    shutil.copy(SITE / "checked.mjs", tmp_path)
    few_bytes = "a b c d e f g h i j k l m n o p q r."  # More ids than their bytes promise.
    texts = ["wir ruft", few_bytes, toy.SOURCES[1], LONG, *toy.SOURCES[2:6], LONG.lower()]
    printed = run("node", "checked.mjs", toy_tflite, json.dumps(texts), folder=tmp_path)
    expected = PocketTranslator(toy_tflite).split_translations(texts, source_language="de")
    assert json.loads(printed) == [[each.text, [*each.flags]] for each in expected]


def test_only_the_graphs_of_a_signature_and_of_the_kept_lengths_are_left(
    browser, folder, toy_tflite, tmp_path
):
    installed_in(tmp_path, folder)
    shutil.copy(SITE / "graphs.mjs", tmp_path)

    def left(name, kept):
        result = tmp_path / f"{len(kept)}.tflite"
        chosen = json.dumps({"name": name, "lengths": lengths, "kept": kept})
        printed = run("node", "graphs.mjs", toy_tflite, result, chosen, folder=tmp_path)
        return result if json.loads(printed) else None

    def operators(path):
        content = schema.ModelT.InitFromObj(schema.Model.GetRootAs(path.read_bytes(), 0))
        return sum(len(graph.operators or ()) for graph in content.subgraphs)

    def answer(path, text):
        run = Interpreter(str(path)).get_signature_runner("translate")
        source = np.frombuffer(text.encode(), np.uint8)
        size = metadata["max_source_bytes"]
        outputs = run(source=np.pad(source, (0, size - len(source))))
        assert (np.count_nonzero(outputs["source_ids"] != padding) > 16) == (text == LONG)
        return outputs["ids"].tolist()

    metadata = read_metadata(toy_tflite)
    lengths, padding = metadata["lengths"], metadata["padding_id"]
    assert lengths[:2] == [16, 32]
    whole, short, long = (left("translate", kept) for kept in (lengths, [16], lengths[1:]))
    assert operators(short) < operators(long) < operators(whole) < operators(toy_tflite)
    for text in ("wir ruft", LONG):
        expected = answer(toy_tflite, text)
        assert answer(whole, text) == answer(long, text) == expected
        assert (answer(short, text) == expected) == (text != LONG)
    assert left("translate_all", lengths) is None


@pytest.mark.prove
def test_node_has_the_memory_of_a_closed_translator_again(browser, folder, tmp_path):
    installed_in(tmp_path, folder)
    shutil.copy(SITE / "loads.mjs", tmp_path)
    early, late = json.loads(run("node", "loads.mjs", folder=tmp_path))
    assert late - early < 60  # MB; without closing, 20 loads take hundreds.


@pytest.mark.prove
def test_vite_builds_a_site_with_the_module(browser, packages, folder, expected, tmp_path):
    installed_in(tmp_path, folder)
    shutil.copy(SITE / "bundled.html", tmp_path / "index.html")
    shutil.copy(SITE / "main.js", tmp_path)
    printed = run("node", packages / "vite" / "bin" / "vite.js", "build", folder=tmp_path)
    assert "externalized" not in printed and "warning" not in printed.lower()
    with served(tmp_path / "dist") as address:
        browser("visit", address)
        assert browser("resolve", "translate", TEXT) == "\n".join(expected)
        requests = browser("requests")
    files = {request.removeprefix(address).split("-")[0] for request in requests}
    assert {"assets/worker", "assets/translator", "assets/litert_wasm_internal"} <= files
    assert not any("compat" in request for request in requests)


@pytest.mark.prove
def test_the_types_fit_a_script_in_typescript(browser, packages, folder, tmp_path):
    installed_in(tmp_path, folder)
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]
    compiler = [
        "node",
        packages / "typescript" / "bin" / "tsc",
        *options,
        "--types",
        "",
        "main.mts",
    ]
    script = (SITE / "typed.mts").read_text("utf-8")
    (tmp_path / "main.mts").write_text(script, "utf-8")
    run(*compiler, folder=tmp_path)
    (tmp_path / "main.mts").write_text(script.replace('translate("a"', "translate(7"), "utf-8")
    with pytest.raises(AssertionError, match="'number' is not assignable"):
        run(*compiler, folder=tmp_path)
