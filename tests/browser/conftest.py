"""A page in a real Chromium, for the tests that look at it."""

import os
import shutil

import pytest

from browser.chromium import Chromium, NotHere, served
from kformer.export import export_web_page


@pytest.fixture(scope="session")
def litert_js(packages):
    return packages / "@litertjs" / "core"


@pytest.fixture(scope="session")
def browser(packages):
    try:
        browser = Chromium(packages)
    except NotHere as reason:
        pytest.skip(str(reason))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def folder(browser, toy_tflite, litert_js, made_once):
    """The folder of a page."""
    return made_once("page", lambda folder: export_web_page(toy_tflite, folder / "page", litert_js))


@pytest.fixture(scope="session")
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
