"""The browser keeps the page: it loads without a network, and as one version."""

import os
import shutil
from importlib import resources

import pytest

from browser.chromium import served
from kformer.export.web.page_writer import SERVICE_WORKER, write_service_worker
from support import toy

ALLOWED = {"serviceWorkers": "allow"}


@pytest.fixture
def copy(folder, tmp_path):
    """A folder of the page that may be changed."""
    return shutil.copytree(folder, tmp_path / "page")


def change(path, old, new, seconds=10):
    """Changes a file, and its time: by that servers tell what a browser's copy is."""
    content = path.read_text("utf-8")
    assert old in content
    time = path.stat().st_mtime + seconds
    path.write_text(content.replace(old, new), "utf-8")
    os.utime(path, (time, time))


def test_it_loads_and_translates_without_its_server(browser, folder):
    with served(folder) as address:
        browser("open", address, ALLOWED)
        browser("kept")
    said = browser("reload")
    assert said["state"] == "ready" and said["title"] == "German to English"
    assert browser("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]
    stored = browser(
        "look",
        """caches.keys()
          .then(([name]) => caches.open(name))
          .then((cache) => cache.keys())
          .then((requests) => requests.map(({ url }) => new URL(url).pathname))""",
    )
    builds = {path for path in stored if "litert_wasm" in path or "worker" in path}
    assert builds == {
        "/litert-worker.js",
        "/litert/litert_wasm_internal.js",
        "/litert/litert_wasm_internal.wasm",
        "/worker-engine.js",
        "/worker.js",
    }  # Of the two builds, one.


@pytest.mark.prove
def test_a_newer_version_comes_whole_with_the_next_load(browser, copy):
    colour = "document.querySelector('meta[name=theme-color]').content"
    with served(copy) as address:
        browser("open", address, ALLOWED)
        browser("kept")
        [version] = browser("versions")
        change(copy / "index.html", "#3257d5", "#123456")
        change(copy / "strings.js", "Licence:", "newer:", seconds=-10)  # To the server, older.
        original = resources.files("kformer.export.web")
        template = (original / SERVICE_WORKER).read_text("utf-8")
        (copy / SERVICE_WORKER).unlink()
        write_service_worker(copy, template)
        old = browser("reload")
        browser("isReplaced", [version])
        assert browser("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]
        assert browser("look", colour) == "#3257d5"
    assert "Licence:" in old["facts"]
    new = browser("reload")  # Without the server.
    assert "newer:" in new["facts"] and "Licence:" not in new["facts"]
    assert browser("look", colour) == "#123456"
    assert browser("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]


@pytest.mark.prove
def test_files_of_two_versions_are_not_kept(browser, copy):
    change(copy / "strings.js", "Licence:", "another:")
    with served(copy) as address:
        said = browser("open", address, ALLOWED)
        assert said["state"] == "ready" and "another:" in said["facts"]
        assert not browser("keeps")
