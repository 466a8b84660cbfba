"""The page of `kformer serve`: the page of the export, with the answers of the server."""

import json
import re

import pytest

import kformer
from kformer.documents.document_translation import translate_content
from kformer.export import export_tflite
from kformer.pocket import PocketTranslator
from support import toy
from support.serving.served_api import served_api

LINES = ["der hund sucht das haus .", "", "  wir ruft uns . wir malt ein bild .", "xyz xyz"]


@pytest.mark.prove
def test_it_shows_what_the_server_answers(browser, toy_tflite):
    with served_api(toy_tflite) as api:
        opened = browser("open", f"{api.url}/")
        assert opened["state"] == "ready", opened
        assert opened["examples"] == toy.SOURCES[toy.HELD_OUT][:3]
        command = browser("look", "document.getElementById('api-example').textContent")
        [shortest] = sorted(opened["examples"], key=len)[:1]
        fields = {"q": shortest, "source": "de", "target": "en"}
        assert command == f"curl {api.url}/translate -d '{json.dumps(fields)}'"
        shown = browser("translate", "\n".join(LINES))
        visible = browser("look", "document.getElementById('examples').checkVisibility()")
    assert not visible  # They are for a page without a text.
    answers = PocketTranslator(toy_tflite).split_translations(LINES)
    assert shown["lines"] == [answer.text for answer in answers]
    assert shown["flagged"] == [i for i, answer in enumerate(answers) if answer.flags]


@pytest.mark.prove
def test_its_menu_has_the_directions_of_all_models(browser, toy_tflite, toy_translator, tmp_path):
    about = {"source_language": "en", "target_language": "fr"}
    second = export_tflite(toy_translator, tmp_path / "second.tflite", about=about)
    with served_api(toy_tflite, second) as api:
        browser("open", f"{api.url}/")
        menu = "document.getElementById('directions')"
        names = browser("look", f"[...{menu}.options].map((each) => each.text).join()")
        assert names == (
            "German to English,English to French,German to French,Detect language to French"
        )
        browser("look", f"{menu}.value = 2; {menu}.onchange(); 0")
        shown = browser("translate", LINES[0])
        fields = {"q": LINES[0], "source": "de", "target": "fr"}
        assert shown["lines"] == [api.ask("/translate", fields).json["translatedText"]]
        label = "document.getElementById('source-label').textContent"
        assert browser("look", label) == "German"
        browser("look", f"{menu}.value = 3; {menu}.onchange(); 0")
        german = "der hund sucht das haus und wir rufen uns"
        detected = browser("translate", german)
        assert browser("look", label) == "Detected: German"
        fields["q"] = german
        assert detected["lines"] == [api.ask("/translate", fields).json["translatedText"]]
        assert browser("translate", "the dog runs through the old town")["lines"]
        assert browser("look", label) == "Detected: English"
    first = kformer.load(toy_tflite).translate(LINES[0])
    assert shown["lines"] == [kformer.load(second).translate(first)]


@pytest.mark.prove
def test_it_translates_a_file(browser, toy_tflite):
    page = f"<h1>{LINES[0]}</h1>\n<p>xyz</p>"
    with served_api(toy_tflite) as api:
        browser("open", f"{api.url}/")
        kinds = browser("look", "document.getElementById('file').accept")
        assert kinds.split(",") == api.ask("/frontend/settings").json["supportedFilesFormat"]
        found = browser("upload", "seite 1.html", page)
    expected, report = translate_content(page.encode(), "a.html", kformer.load(toy_tflite))
    assert found["name"] == "seite 1.en.html"
    assert found["content"] == expected.decode()
    assert found["said"].startswith("Download seite 1.en.html")
    assert ("Guesses to check" in found["said"]) == bool(report.flags)


@pytest.mark.prove
def test_a_long_text_is_sent_in_portions_and_shown_as_they_come(browser, toy_tflite):
    lines = [f"wir{i} ruft uns" for i in range(1250)]
    with served_api(toy_tflite, "--max-texts", 300, "--max-characters", 20_000) as api:
        browser("open", f"{api.url}/")
        begun, ended = browser("write", "\n".join(lines))
        expected = [api.translate(each)["translatedText"] for each in (lines[0], lines[-1])]
        metrics = api.ask("/metrics").content.decode()
    assert 0 < begun["pending"] < 1250 and ended["pending"] == 0
    assert [ended["lines"][0], ended["lines"][-1]] == expected
    number = re.search(
        r'kformer_requests_total\{route="/v1/translations",status="200"\} (\d+)', metrics
    )
    assert 10 <= int(number[1]) <= 60


@pytest.mark.prove
def test_it_asks_for_the_key_that_the_server_needs(browser, toy_tflite):
    key, line = "a-secret_key", LINES[0]
    with served_api(toy_tflite, variables={"KFORMER_API_KEYS": key}) as api:
        opened = browser("open", f"{api.url}/")
        assert (opened["status"], opened["failure"]) == ("A key is needed", None)
        assert browser("fields")["shown"] == ["key"]
        for wrong in ("another", "ключ"):
            refused = browser("enterKey", wrong)
            assert refused["failure"] == "The server refuses this key."
            assert refused["state"] == "failed"
        assert browser("enterKey", key)["state"] == "ready"
        assert browser("fields")["shown"] == []
        command = browser("look", "document.getElementById('api-example').textContent")
        assert command.startswith(f"curl {api.url}/translate -H 'X-API-Key: KEY' -d '{{")
        expected = PocketTranslator(toy_tflite).translate([line])
        assert browser("translate", line)["lines"] == expected
        assert browser("reload")["state"] == "ready"  # The tab keeps the key.
        assert browser("translate", line)["lines"] == expected
        assert key not in browser("fields")["kept"]
        assert all(key not in address for address in browser("requests"))
        code, log = api.end()
    assert code == 0 and key not in log
