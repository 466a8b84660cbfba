"""The folder of a web page, and LiteRT.js in it: found where npm puts it, and nowhere else."""

import hashlib
import json
import re
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

import kformer.export
from kformer.export import export_web_page
from kformer.export.web.litert_js import BUILDS, find_litert_js
from kformer.export.web.npm_package import UNUSED_BY_PAGE, npm_package
from support import REPOSITORY, SAVED

FOLDER = Path(kformer.export.__file__).parent / "web"
PAGE = [path for path in FOLDER.iterdir() if path.is_file() and path.suffix not in (".py", ".md")]
BUILD = """var ModuleFactory = () => 1;
var ENVIRONMENT_IS_NODE = globalThis.process?.versions?.node && "renderer";
if (ENVIRONMENT_IS_NODE) var fs = require("node:fs");
// Export using a UMD style export, or ES6 exports if selected
if (typeof exports === 'object') module.exports = ModuleFactory;
"""


@pytest.fixture
def package(tmp_path):
    """What `npm install` leaves, in small."""
    modules = tmp_path / "site" / "node_modules" / "@litertjs"
    for name in [f"core/wasm/{build}" for build in BUILDS]:
        _write(modules / name, BUILD)
    _write(modules / "core/wasm/litert_wasm_threaded_internal.wasm", "not for a page")
    script = (
        'import { run } from "@litertjs/wasm-utils";\nrun(Environment.create());\n'
        "//# sourceMappingURL=index.js.map\n"
    )
    _write(modules / "core/dist/index.js", script)
    _write(
        modules / "core/package.json", json.dumps({"name": "@litertjs/core", "version": "2.5.3"})
    )
    return modules / "core"


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_the_folder_has_all_that_the_page_needs(toy_tflite, package, tmp_path):
    folder = export_web_page(toy_tflite, tmp_path / "new" / "page", package)
    litert = [*BUILDS, "index.js", "package.json", "LICENSE"]
    page = [path.name for path in PAGE]
    made = ["translator.tflite", "page.webmanifest", "languages.js", "package.json"]
    assert files(folder) == {*page, *made, *(f"litert/{name}" for name in litert)}
    assert (folder / "translator.tflite").read_bytes() == toy_tflite.read_bytes()


def listed_by_service_worker(folder):
    text = (folder / "service-worker.js").read_text("utf-8")
    return json.loads(re.search(r"const FILES = ({.*?});", text, re.DOTALL)[1])


def test_the_service_worker_lists_the_files_of_the_page_by_their_checksums(
    toy_tflite, package, tmp_path
):
    folder = export_web_page(toy_tflite, tmp_path / "page", package)
    assert listed_by_service_worker(folder) == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in files(folder) - {"service-worker.js", *UNUSED_BY_PAGE}
    }


def test_another_model_is_another_version(toy_tflite, package, tmp_path):
    def version(tflite, name):
        folder = export_web_page(tflite, tmp_path / name, package)
        text = (folder / "service-worker.js").read_text("utf-8")
        return re.search(r'const VERSION = "(\w{16})";', text)[1]

    other = tmp_path / "other.tflite"
    with zipfile.ZipFile(toy_tflite) as archive:
        said = json.loads(archive.read("kformer.json"))
    content = bytearray(toy_tflite.read_bytes()[: said["model_bytes"]])
    content[len(content) // 3] ^= 1
    other.write_bytes(content)
    with zipfile.ZipFile(other, "a") as archive:
        said["sha256"] = hashlib.sha256(content).hexdigest()
        archive.writestr("kformer.json", json.dumps(said))
    first = version(toy_tflite, "first")
    assert version(toy_tflite, "second") == first
    assert version(other, "third") != first


def test_a_browser_can_install_the_page(toy_tflite, package, tmp_path):
    folder = export_web_page(toy_tflite, tmp_path / "page", package)
    said = json.loads((folder / "page.webmanifest").read_text("utf-8"))
    assert said["display"] == "standalone" and said["start_url"] == "./"
    sizes = {}
    for icon in said["icons"]:
        content = (folder / icon["src"]).read_bytes()
        if icon["type"] == "image/png":
            width, height = struct.unpack(">II", content[16:24])
            sizes[icon["sizes"]] = f"{width}x{height}"
    assert sizes == {"192x192": "192x192", "512x512": "512x512"}
    page = (folder / "index.html").read_text("utf-8")
    assert '<link rel="manifest" href="page.webmanifest">' in page


def test_the_script_finds_the_loader_of_the_page_without_npm(toy_tflite, package, tmp_path):
    folder = export_web_page(toy_tflite, tmp_path / "page", package)
    first, *rest = (folder / "litert" / "index.js").read_text().splitlines()
    assert first.startswith("// Changed by kformer export")  # As the licence asks.
    assert rest == [
        'import { run } from "../litert-library.js";',
        "run(Environment.create({ webGpuDevice: null }));",
    ]


def test_the_builds_are_modules(toy_tflite, package, tmp_path):
    folder = export_web_page(toy_tflite, tmp_path / "page", package)
    for name in BUILDS:
        if name.endswith(".js"):
            first, *rest = (folder / "litert" / name).read_text().splitlines()
            assert first.startswith("// Changed by kformer export")
            assert rest == [
                "var ModuleFactory = () => 1;",
                "var ENVIRONMENT_IS_NODE = false;",
                "if (ENVIRONMENT_IS_NODE) var fs = null;",
                "export default ModuleFactory;",
            ]


@pytest.mark.parametrize(
    ("metadata", "name", "version"),
    [
        ({"source_language": "de", "target_language": "en"}, "kformer-de-en", "1.0.0"),
        ({"source_language": "zh-Hant", "version": "2.1.0"}, "kformer-zh-hant", "2.1.0"),
        ({"target_language": "no code", "version": "second"}, "kformer-translator", "1.0.0"),
    ],
)
def test_the_npm_package_has_the_languages_in_its_name(metadata, name, version):
    package = npm_package(metadata)
    assert (package["name"], package["version"]) == (name, version)
    assert re.fullmatch(r"[a-z0-9_-]+", package["name"])


def test_the_npm_package_names_files_of_the_folder(toy_tflite, package, tmp_path):
    folder = export_web_page(toy_tflite, tmp_path / "page", package)
    about = json.loads((folder / "package.json").read_text("utf-8"))
    paths = [*about["exports"]["."].values(), about["types"], *about["sideEffects"]]
    for path in [*paths, *(name.removeprefix("!") for name in about["files"])]:
        assert [*folder.glob(path)], path


def test_the_licence_of_the_package_goes_with_it(toy_tflite, package, tmp_path):
    without = export_web_page(toy_tflite, tmp_path / "without", package)
    ours = REPOSITORY / "LICENSE"
    assert (without / "litert" / "LICENSE").read_text() == ours.read_text()
    assert (without / "LICENSE").read_text() == ours.read_text()
    _write(package / "LICENSE.md", "Do as you like.")
    with_one = export_web_page(toy_tflite, tmp_path / "with", package)
    assert (with_one / "litert" / "LICENSE.md").read_text() == "Do as you like."
    assert not (with_one / "litert" / "LICENSE").exists()


def test_the_package_is_searched_in_node_modules_here_and_above(package, monkeypatch):
    below = package.parents[2] / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_litert_js() == package


def test_without_the_package_the_message_has_the_command_to_install_it(
    refused, toy_keras, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    message = refused("export", toy_keras, "--web", tmp_path / "page")
    assert "npm install @litertjs/core@2.5.3" in message and "--litert-js" in message
    message = refused("export", toy_keras, "--web", tmp_path / "page", "--litert-js", tmp_path)
    assert "npm install @litertjs/core@2.5.3" in message
    assert f"Received: no package.json in '{tmp_path}'" in message


@pytest.mark.parametrize(
    ("about", "received"),
    [
        ({"name": "@litertjs/core", "version": "3.0.0"}, "@litertjs/core 3.0.0 in"),
        ({"name": "litert", "version": "2.5.3"}, "litert 2.5.3 in"),
        ({"name": "@litertjs/core"}, r"package.json' \(it must have 'version'"),
        ([], r"package.json' \(it must be an object"),
    ],
)
def test_another_package_is_refused(package, about, received):
    _write(package / "package.json", json.dumps(about))
    with pytest.raises(ValueError, match=f"Received: .*{received}"):
        find_litert_js(package)


@pytest.mark.parametrize("name", ["core/wasm/litert_wasm_compat_internal.wasm", "core/dist"])
def test_an_incomplete_package_is_refused(package, name):
    path = package.parent / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(FileNotFoundError, match=r"npm install .* Received: no file '.*litertjs/"):
        find_litert_js(package)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dist/index.js", r"wasm-utils and .* once.* Received: '.*index.js'"),
        (
            "wasm/litert_wasm_internal.js",
            r"ENVIRONMENT_IS_NODE .* once.* Received: '.*internal.js'",
        ),
    ],
)
def test_an_unknown_script_leaves_no_folder(toy_tflite, package, tmp_path, name, message):
    _write(package / name, "export {};\n")
    with pytest.raises(ValueError, match=message):
        export_web_page(toy_tflite, tmp_path / "page", package)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_an_old_folder_is_not_replaced(refused, toy_keras, toy_tflite, package, tmp_path):
    page = tmp_path / "page"
    page.mkdir()
    assert f"'{page}'" in refused("export", toy_keras, "--web", page, "--litert-js", package)
    with pytest.raises(IsADirectoryError, match="page"):
        export_web_page(toy_tflite, page, package)


@pytest.mark.prove
def test_only_translators_that_take_text_can_be_in_a_page(classifier_tflite, package, tmp_path):
    [old] = (SAVED / "0.1.0").glob("*.tflite")
    with pytest.raises(ValueError, match=r"Received: format=1 in '.*translator.tflite'"):
        export_web_page(old, tmp_path / "page", package)
    with pytest.raises(ValueError, match=r"A translator is needed.* '.*classifier\.tflite'"):
        export_web_page(classifier_tflite(), tmp_path / "page", package)
    with pytest.raises(FileNotFoundError, match=r"gone\.tflite"):
        export_web_page(tmp_path / "gone.tflite", tmp_path / "page", package)


def test_litert_js_is_for_a_page(refused, toy_keras, package, tmp_path):
    tflite = ("--tflite", tmp_path / "x.tflite")
    message = refused("export", toy_keras, *tflite, "--litert-js", package)
    assert f"give --web, too. Received: '{package}' alone" in message


def test_the_page_names_nothing_from_elsewhere():
    for path in PAGE:
        if path.name == "LICENSE" or path.suffix == ".png":
            continue
        text = path.read_text("utf-8")
        protocols = '"http:", "https:"'  # Of links that may be pasted.
        pattern = "(?:https?|ftp):"  # Of addresses in texts.
        for known in ("http://www.w3.org/2000/svg", "http://localhost:8000", protocols, pattern):
            text = text.replace(known, "")
        assert "http" not in text.replace("http-equiv", "").replace("http.server", ""), path
