"""What the web page shows, and how it behaves while it is used."""

import json
import zipfile

import pytest

from support import toy

MODEL = "translator.tflite"
RUN = b"    let found = await answer(stages, isLong, inputs);\n"


def test_it_shows_the_metadata_of_the_file(browser, address, folder):
    said = browser("open", address)
    assert said["title"] == "German to English"
    assert said["languages"] == ["de", "en"]
    size = (folder / MODEL).stat().st_size / 1e6
    with zipfile.ZipFile(folder / MODEL) as archive:
        manifest = json.loads(archive.read("kformer.json"))
    made = f"kformer {manifest['kformer']}"
    assert said["facts"] == f"{size:.1f} MB · {made} · Licence: CC0 · Nobody (2026)"
    assert said["examples"] == toy.SOURCES[toy.HELD_OUT][:3]
    shown = "document.getElementById('examples').checkVisibility()"
    assert browser("look", shown)
    assert browser("click", said["examples"][1])["source"] == said["examples"][1]
    assert not browser("look", shown)  # They are for a page without a text.
    assert browser("click", "Clear")["source"] == "" and browser("look", shown)


@pytest.mark.prove
def test_typing_never_waits_for_a_translation(browser, changed):
    """Of a translator that takes three seconds, whatever the machine."""
    slow = b"    for (const end = performance.now() + 3000; line && performance.now() < end; );\n"
    with changed("litert-engine.js", lambda js: js.replace(RUN, slow + RUN)) as address:
        browser("open", address)
        said = browser("typeDuring", "wir ruft uns .", toy.SOURCES[0])
    assert said["started"] == "translating"
    assert said["during"] == {"value": toy.SOURCES[0], "state": "translating"}
    assert said["longest"] < 1500
    assert said["lines"] == [toy.TARGETS[0]]
    assert said["status"].startswith("Translated in 3.")  # What was typed on the way was left out.


def slowed(engine):
    """The engine, with at least 100 ms for each sentence; its log has each text and each run."""
    slow = b"""    console.log(`run ${line}`);
    for (const end = performance.now() + 100; line && performance.now() < end; );
"""
    asked = b"    const spent = {"
    assert engine.count(RUN) == engine.count(asked) == 1
    log = b"    console.log(`asked ${sentences.length}`);\n"
    return engine.replace(RUN, slow + RUN).replace(asked, log + asked)


def test_sentences_come_one_by_one_and_a_newer_text_stops_the_older(browser, changed):
    long = [f"wir ruft {number}" for number in range(200)]
    with changed("litert-engine.js", slowed) as address:
        browser("open", address)
        browser("translate", "das haus")
        begun = browser("begin", "\n".join(long))
        ended = browser("translate", f"{toy.SOURCES[0]}\ndas haus")
        log = browser("logged")
    assert 0 < begun["pending"] < 200 and len(begun["lines"]) == 200
    assert begun["copy"] == "disabled" and begun["state"] == "translating"
    assert begun["lines"][199] == ""  # Nothing of the text before.
    assert ended["lines"][0] == toy.TARGETS[0]
    assert (ended["pending"], ended["copy"], ended["state"]) == (0, "enabled", "ready")
    after = log[log.index("asked 2") :]
    assert after == ["asked 2", f"run {toy.SOURCES[0]}"]  # The other line was remembered.
    assert sum(f"run {line}" in log for line in long) < 200


@pytest.mark.prove
def test_a_sentence_that_did_not_change_is_not_translated_again(browser, changed):
    with changed("litert-engine.js", slowed) as address:
        browser("open", address)
        browser("translate", "Wir ruft uns! Das haus?\nWir ruft uns!")
        before = browser("translate", "Wir ruft uns! Das haus? Ein bild.\nWir ruft uns!")
        browser("translate", "Ein kind! Wir ruft uns!\nWir ruft uns!  Das haus?")
        log = browser("logged")
    runs = [line.removeprefix("run ") for line in log if line.startswith("run ")]
    assert runs == ["", "Wir ruft uns!", "Das haus?", "Ein bild.", "Ein kind!"]
    assert len(before["lines"]) == 2


def test_white_space_and_line_breaks_stay_as_they_are(page, address):
    text = "\t{0}\n\n  {1}!   {2} \n{0}"
    for _ in range(2):  # New, and remembered.
        said = page("translate", text.format("wir", "der hund", "uns"))
        words = page("translate", "wir\nder hund!\nuns")["lines"]
    expected = text.replace("{1}!", "{1}").format(*words)
    assert said["lines"] == expected.split("\n")


@pytest.mark.prove
def test_a_browser_without_segmenter_translates_lines(browser, changed):
    with changed("sentences.js", lambda js: b"delete Intl.Segmenter;\n" + js) as address:
        browser("open", address)
        [piece] = browser("pieces", ["1. Ja. Nein. "])[0]
        assert piece == {"before": "1. ", "source": "Ja. Nein.", "after": " "}
        assert browser("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("language", "line", "count"),
    [
        ("de", "Herr Dr. Meier kommt am 3. Mai, z. B. um 8 Uhr. Wirklich? Ja!", 3),
        ("en", "Mr. Smith and J. R. Brown came 3. He went.", 2),
        ("fr", "C'est le plan B\u00a0! Non. M. Dupont arrive.", 3),
        ("ja", "これは本です。はい。", 2),
        (None, "Ein Satz. Noch einer.", 2),
        ("no_code", "Ein Satz. Noch einer.", 2),
    ],
)
def test_a_line_is_split_by_the_rules_of_its_language(page, language, line, count):
    [found] = page("split", language, [line])
    assert "".join("".join(piece.values()) for piece in found) == line and len(found) == count


def test_on_a_phone_both_sides_fit_on_the_screen_and_scroll_inside(browser, address):
    width, height = 390, 844
    browser("open", address, {"viewport": {"width": width, "height": height}})
    browser("translate", "\n".join(toy.SOURCES[:40]))
    for pane in browser("panes"):
        assert pane["scrolls"]
        assert 0 <= pane["left"] < pane["right"] <= width
        assert 0 <= pane["top"] < pane["bottom"] <= height


def test_nothing_is_fetched_from_elsewhere_and_nothing_at_all_while_it_translates(page, address):
    fetched = page("requests")
    assert {url for url in fetched if not url.startswith(address)} <= set(data_urls(fetched))
    assert address + MODEL in fetched
    page("offline")
    assert page("translate", toy.SOURCES[0])["lines"] == [toy.TARGETS[0]]
    assert page("requests") == fetched


def data_urls(urls):
    return [url for url in urls if url.startswith("data:")]


def test_a_screen_reader_finds_its_way(page):
    assert page("count", "navigation", "Examples") == 1
    page("translate", "wir")
    for role, name in [
        ("textbox", "German"),
        ("status", "English"),
        ("button", "Clear"),
        ("button", "Copy"),
        ("heading", "German to English"),
        ("heading", "English"),
    ]:
        assert page("count", role, name) == 1, (role, name)


@pytest.mark.prove
def test_each_line_has_a_direction_of_its_own(browser, changed):
    rtl = b"span.textContent = '\\u05e9\\u05dc\\u05d5\\u05dd';"
    with changed("lines.js", lambda js: js.replace(b"span.textContent = text;", rtl)) as address:
        browser("open", address)
        assert browser("translate", "wir")["directions"] == ["rtl"]
        assert browser("style", "#source", "direction") == "ltr"
        browser("translate", "שלום")
        assert browser("style", "#source", "direction") == "rtl"


@pytest.mark.prove
def test_it_is_dark_where_that_is_wanted(browser, address):
    colours = {}
    for scheme in ("light", "dark"):
        browser("open", address, {"colorScheme": scheme})
        colours[scheme] = [browser("style", "body", name) for name in ("color", "background-color")]
    assert colours["light"][0] != colours["dark"][0]
    assert colours["light"][1] != colours["dark"][1]
