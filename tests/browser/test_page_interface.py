"""The interface: in several languages, for fingers, for screen readers."""

import re
from pathlib import Path

import pytest

import kformer.export.web
import kformer.server
from kformer.inference.zero_shot import ZERO_SHOT
from support import toy

FOLDER = Path(kformer.export.web.__file__).parent
SERVER = Path(kformer.server.__file__).parent
FLAGS_OF_SERVER = {f"flag {ZERO_SHOT}"}
LANGUAGES = {"en", "de", "fr", "es", "zh"}


def strings(browser):
    return browser("look", "import('./strings.js').then(({ STRINGS }) => STRINGS)")


def test_all_languages_have_all_strings_with_the_same_values(page):
    found = strings(page)
    assert set(found) == LANGUAGES
    for code, texts in found.items():
        assert texts.keys() == found["en"].keys(), code
        for key, text in texts.items():
            assert text.strip() == text != "", (code, key)
            names = [set(re.findall(r"\{(\w+)\}", each)) for each in (text, found["en"][key])]
            assert names[0] == names[1], (code, key)
    for code in LANGUAGES - {"en"}:  # Few words are the same, such as "Text".
        same = [key for key, text in found[code].items() if text == found["en"][key]]
        assert len(same) < 5, (code, same)


def test_every_string_is_used_and_every_used_string_is_there(page):
    sources = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.js")}
    sources |= {path.name: path.read_text("utf-8") for path in SERVER.glob("*.??")}
    sources["index.html"] = (FOLDER / "index.html").read_text("utf-8")
    del sources["strings.js"]
    everything = "\n".join(sources.values())
    known = strings(page)["en"]
    used = set(re.findall(r'messageOf\(\s*"([^"]+)"', everything))
    used |= set(re.findall(r'data-(?:text|label|placeholder)="([^"]+)"', everything))
    assert used <= known.keys()
    for key in known:
        name = key.removeprefix("failure ").removeprefix("flag ")
        assert f'"{key}"' in everything or f'"{name}"' in everything or key in FLAGS_OF_SERVER, key


def test_the_page_has_the_english_strings_without_a_script(page):
    html = (FOLDER / "index.html").read_text("utf-8")
    known = strings(page)["en"]
    for key, text in re.findall(r'data-text="([^"]+)"[^>]*>([^<]+)<', html):
        assert known[key] == text
    for attribute, key in re.findall(r'aria-label="([^"]+)" data-label="([^"]+)"', html):
        assert known[key] == attribute


@pytest.mark.parametrize(
    ("locale", "title", "clear"),
    [
        ("de-AT", "Deutsch → Englisch", "Löschen"),
        ("zh-CN", "德语 → 英语", "清除"),
        ("it", "German to English", "Clear"),
    ],
)
def test_it_speaks_the_language_of_the_browser(browser, address, locale, title, clear):
    opened = browser("open", f"{address}#text=wir", {"locale": locale})
    assert opened["title"] == title
    assert browser("count", "button", clear) == 1
    expected = locale.split("-")[0] if locale.split("-")[0] in LANGUAGES else "en"
    assert browser("look", "document.documentElement.lang") == expected


def test_buttons_on_a_phone_have_48_pixels(browser, address):
    browser("open", address, {"viewport": {"width": 390, "height": 844}})
    browser("translate", "a" + "\u0301" * 900)
    sizes = browser(
        "look",
        """[...document.querySelectorAll("button, select")]
          .filter((each) => each.checkVisibility())
          .map((each) => Math.min(each.offsetWidth, each.offsetHeight))""",
    )
    assert len(sizes) >= 4 and min(sizes) >= 48
    assert browser("look", "document.documentElement.scrollWidth") <= 390


@pytest.mark.prove
def test_copying_is_announced(page):
    page("translate", toy.SOURCES[0])
    page("copied")
    assert page("look", "document.getElementById('announcement').textContent") == "Copied"


@pytest.mark.prove
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser, packages, address, changed, scheme, width):
    axe = (packages / "axe-core" / "axe.min.js").read_text("utf-8")
    look = {"colorScheme": scheme, "viewport": {"width": width, "height": 800}}
    browser("open", address, look)
    assert browser("findings", axe) == []
    browser("translate", "\n".join(toy.SOURCES[:40]))
    browser("pointAt", ".mirror span")
    assert browser("findings", axe) == []
    browser("translate", "a" + "\u0301" * 900)  # With a notice.
    assert browser("findings", axe) == []
    with changed("translator.tflite", lambda file: b"") as broken:
        assert browser("open", broken, look)["state"] == "failed"
        assert browser("findings", axe) == []
