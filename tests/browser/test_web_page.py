"""The web page in a real Chromium: it says what Python says, byte for byte, or why it cannot."""

import json
import os
import random
import shutil
import zipfile

import pytest
import tensorflow as tf
import toy
from browser.chromium import Chromium, NotHere, installed_packages, served

from kformer.export import export_tflite, export_web_page
from kformer.pocket import PocketTranslator
from kformer.scores import bleu

MODEL = "translator.tflite"
ODD = ["", " \t ", "das häus 🐕", "e\u0301 ﬁ ½ \u2581", "שלום wir", "👩‍👩‍👧‍👦\ufeffruft", "a" * 99]


@pytest.fixture(scope="module")
def packages(request):
    try:
        return installed_packages(request.config.cache.mkdir("browser"))
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def litert_js(packages):
    return packages / "@litertjs" / "core"


@pytest.fixture(scope="module")
def browser(packages):
    try:
        browser = Chromium(packages)
    except NotHere as reason:
        pytest.skip(str(reason))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def folder(toy_run, browser, litert_js, tmp_path_factory):
    """The folder of a page, as the command writes it."""
    folder = tmp_path_factory.mktemp("web") / "page"
    result = toy.run_command(
        *("export", toy_run.folder / "translator.keras", "--web", folder),
        *("--litert-js", litert_js, "--source-language", "de", "--target-language", "en"),
        *("--licence", "CC0", "--citation", "Nobody (2026)"),
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith(f"Written: {folder}\n")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with served(folder) as address:
        yield address


@pytest.fixture
def page(browser, address):
    """The browser, with the page open and ready."""
    said = browser("open", address)
    assert said["state"] == "ready", said
    return browser


@pytest.fixture
def changed(folder, tmp_path):
    """A function that serves the page with one of its files changed, by bytes -> bytes."""
    copy = tmp_path / "changed"
    shutil.copytree(folder, copy, copy_function=os.link)

    def change(name, to):
        content = to((copy / name).read_bytes())
        (copy / name).unlink()
        if content is not None:
            (copy / name).write_bytes(content)
        return served(copy)

    return change


def sentences(count):
    """Different lines, most of them of words of the toy language."""
    chance = random.Random(5)
    words = [*toy.WORDS, *" ".join(toy.WORDS).split(), "Hund!", "xyz", "½", "🐕"]
    lines = dict.fromkeys(ODD[: count // 3])
    while len(lines) < count:
        lines[" ".join(chance.choices(words, k=chance.randint(1, 9)))] = None
    return list(lines)


@pytest.mark.parametrize(
    "count", [20, pytest.param(200, marks=pytest.mark.prove)], ids="{} lines".format
)
def test_it_says_what_python_says(page, folder, count):
    lines = sentences(count)
    said = page("translate", "\n".join(lines))
    assert said["lines"] == PocketTranslator(folder / MODEL).translate(lines)
    assert said["notice"] is None
    assert len(set(said["lines"])) > count // 2
    assert said["status"].startswith("Translated in ") and said["status"].endswith("s")


def test_it_translates_what_the_model_knows(page):
    for source, target in zip(toy.SOURCES[:3], toy.TARGETS[:3], strict=True):
        assert page("translate", source)["lines"] == [target]
    said = page("translate", "")
    assert (said["lines"], said["failure"]) == ([""], None)


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:Sentence .* over the limit")
def test_a_model_that_babbles_is_the_same_too(browser, two_vocabularies, litert_js, tmp_path):
    """Untrained, with two vocabularies: long translations, of all sorts of pieces."""
    tflite = export_tflite(two_vocabularies, tmp_path / "two.tflite", max_source_length=29)
    lines = [line for line in sentences(60) if len(line.split()) < 6 and len(line) < 40]
    folder = export_web_page(tflite, tmp_path / "page", litert_js)
    with served(folder) as address:
        browser("open", address)
        said = browser("translate", "\n".join(lines))
    assert said["lines"] == PocketTranslator(tflite).translate(lines)
    assert max(map(len, said["lines"])) > 60


@pytest.mark.prove
@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_a_rounded_file_is_as_good_as_it_is_in_python(
    browser, toy_translator, litert_js, tmp_path, precision
):
    tflite = export_tflite(toy_translator, tmp_path / "rounded.tflite", precision=precision)
    with served(export_web_page(tflite, tmp_path / "page", litert_js)) as address:
        browser("open", address)
        said = browser("translate", "\n".join(toy.SOURCES))
    in_python = PocketTranslator(tflite).translate(toy.SOURCES)
    scores = [bleu(translations, toy.TARGETS).value for translations in (said["lines"], in_python)]
    assert scores[0] == pytest.approx(scores[1], abs=0.3)
    assert scores[1] > 40  # A toy's few numbers suffer from 8 bits, and more from 4.


def test_browsers_without_relaxed_simd_get_a_build_of_their_own(browser, changed, folder):
    def without(worker):
        return b"""const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = (code, imports) =>
  imports ? instantiate(code, imports) : Promise.reject(new Error("no relaxed SIMD"));
""" + worker.replace(b'"use strict";', b"", 1)

    with changed("worker.js", without) as address:
        browser("open", address)
        said = browser("translate", "\n".join(toy.SOURCES[:9]))
        fetched = [url.removeprefix(address) for url in browser("requests")]
    assert said["lines"] == PocketTranslator(folder / MODEL).translate(toy.SOURCES[:9])
    assert "litert/litert_wasm_compat_internal.wasm" in fetched
    assert "litert/litert_wasm_internal.wasm" not in fetched


def test_nothing_is_fetched_from_elsewhere_and_nothing_at_all_while_it_translates(page, address):
    fetched = page("requests")
    assert {url for url in fetched if not url.startswith(address)} <= set(data_urls(fetched))
    assert address + MODEL in fetched
    page("offline")
    assert page("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]
    assert page("requests") == fetched


def data_urls(urls):
    return [url for url in urls if url.startswith("data:")]


def test_typing_never_waits_for_a_translation(browser, changed):
    """Of a translator that takes three seconds, whatever the machine."""
    marker = b"  failures.length = 0;\n"
    slow = b"  for (const end = performance.now() + 3000; line && performance.now() < end; );\n"
    with changed("worker.js", lambda js: js.replace(marker, slow + marker)) as address:
        browser("open", address)
        said = browser("typeDuring", "wir ruft uns .", toy.SOURCES[0])
    assert said["started"] == "translating"
    assert said["during"] == {"value": toy.SOURCES[0], "state": "translating"}
    assert said["longest"] < 1500
    assert said["lines"] == [toy.TARGETS[0]]
    assert said["status"].startswith("Translated in 3.")  # What was typed on the way was left out.


def test_text_over_the_limit_is_said_to_be_cut(page, folder):
    too_many_bytes = "wir" + " " * 900 + "ruft"
    too_many_ids = " ".join(toy.SOURCES[:40])[:700]
    with pytest.warns(UserWarning, match="only its first"):
        expected = PocketTranslator(folder / MODEL).translate(["wir", too_many_bytes, too_many_ids])
    said = page("translate", f"wir\n{too_many_bytes}\n{too_many_ids}")
    assert said["lines"] == expected
    assert said["notice"].splitlines() == [
        "Line 2 is too long: only its beginning was translated.",
        "Line 3 is too long: only its beginning was translated.",
    ]
    assert page("translate", "wir")["notice"] is None
    assert page("translate", too_many_bytes)["notice"].startswith("The text is too long")


def test_it_says_what_the_file_says_of_itself(browser, address, folder):
    said = browser("open", address)
    assert said["title"] == "German to English"
    assert said["languages"] == ["de", "en"]
    size = (folder / MODEL).stat().st_size / 1e6
    with zipfile.ZipFile(folder / MODEL) as archive:
        manifest = json.loads(archive.read("kformer.json"))
    thousands = round(manifest["parameters"] / 1000, 1)
    assert said["facts"].startswith(
        f"{size:.1f} MB, {thousands:g} thousand parameters, float32, greedy search · "
    )
    assert said["facts"].endswith(
        f" · kformer {manifest['kformer']} · Licence: CC0 · Nobody (2026)"
    )
    assert said["examples"] == toy.SOURCES[toy.HELD_OUT][:3]
    assert browser("click", said["examples"][1])["source"] == said["examples"][1]
    assert browser("click", "Clear")["source"] == ""


def test_a_screen_reader_finds_its_way(page):
    page("translate", "wir")
    for role, name in [
        *[("textbox", "German"), ("status", "English"), ("button", "Clear"), ("button", "Copy")],
        *[("heading", "German to English"), ("heading", "English"), ("navigation", "Examples")],
    ]:
        assert page("count", role, name) == 1, (role, name)


def test_each_line_has_a_direction_of_its_own(browser, changed):
    rtl = b"line.textContent = '\\u05e9\\u05dc\\u05d5\\u05dd';"
    with changed("page.js", lambda js: js.replace(b"line.textContent = text;", rtl)) as address:
        browser("open", address)
        assert browser("translate", "wir")["directions"] == ["rtl"]
        assert browser("style", "#source", "direction") == "ltr"
        browser("translate", "שלום")
        assert browser("style", "#source", "direction") == "rtl"


def test_it_is_dark_where_that_is_wanted(browser, address):
    colours = {}
    for scheme in ("light", "dark"):
        browser("open", address, {"colorScheme": scheme})
        colours[scheme] = [browser("style", "body", name) for name in ("color", "background-color")]
    assert colours["light"][0] != colours["dark"][0]
    assert colours["light"][1] != colours["dark"][1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: None, "could not be fetched: the server says 404"),
        (lambda file: b"", "not whole"),
        (lambda file: file[: len(file) // 2], "not whole"),
        (lambda file: bytes(len(file) - 9_000) + file[-9_000:], ""),
        (lambda file: file.replace(b'"format": 2', b'"format": 3'), "newer than this page"),
        (lambda file: file.replace(b"kformer.json", b"another.json"), "no manifest"),
    ],
    ids=["missing", "empty", "half", "zeros", "newer", "no manifest"],
)
def test_a_broken_file_shows_an_error(browser, changed, change, message):
    with changed(MODEL, change) as address:
        said = browser("open", address)
    assert said["state"] == "failed"
    assert said["status"] == "The translator could not be loaded"
    assert message in said["failure"] and len(said["failure"]) > 10
    assert said["lines"] == []


def failing(folder):
    """A file whose `translate` fails for a source that begins with "x": it looks beyond a table."""

    class Failing(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([768], tf.uint8, "source")])
        def translate(self, source):
            first = tf.cast(source[:1], tf.int32)  # LiteRT does not compare uint8.
            beyond = tf.cast(first == ord("x"), tf.int32) * 999
            shifted = tf.gather(tf.range(3), beyond)  # Fails there.
            translation = tf.cast(tf.cast(source, tf.int32) + shifted, tf.uint8)
            return {"translation": translation, "truncated": shifted}

    module = Failing()
    tf.saved_model.save(module, str(folder), {"translate": module.translate})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder), signature_keys=["translate"])
    return converter.convert()


def test_an_operation_that_fails_shows_an_error_and_never_garbage(browser, changed, tmp_path):
    content = failing(tmp_path / "saved")

    def change(file):
        path = tmp_path / "failing.tflite"
        with zipfile.ZipFile(_written(tmp_path / "whole", file)) as archive:
            manifest = archive.read("kformer.json")
        path.write_bytes(content)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("kformer.json", manifest)
        return path.read_bytes()

    with changed(MODEL, change) as address:
        assert browser("open", address)["state"] == "ready"
        assert browser("translate", "abc")["lines"] == ["abc"]
        failed = browser("translate", "xyz")
        assert failed["state"] == "failed" and failed["lines"] == []
        assert "gather index out of bounds" in failed["failure"]
        again = browser("translate", "abcd")
    assert (again["lines"], again["failure"], again["state"]) == (["abcd"], None, "ready")


def _written(path, content):
    path.write_bytes(content)
    return path


def test_without_a_server_it_asks_for_one(browser, folder):
    said = browser("open", (folder / "index.html").as_uri())
    assert said["state"] == "failed"
    assert "python3 -m http.server" in said["failure"]
