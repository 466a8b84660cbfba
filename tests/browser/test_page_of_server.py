"""The page of `kformer serve`: the page of the export, with the answers of the server."""

import pytest

from kformer.pocket import PocketTranslator
from support.serving.served_api import served_api

LINES = ["der hund sucht das haus .", "", "  wir ruft uns . wir malt ein bild .", "xyz xyz"]


@pytest.mark.prove
def test_it_shows_what_the_server_answers(browser, toy_tflite):
    with served_api(toy_tflite) as api:
        opened = browser("open", f"{api.url}/")
        assert opened["state"] == "ready", opened
        shown = browser("translate", "\n".join(LINES))
    answers = PocketTranslator(toy_tflite).split_translations(LINES)
    assert shown["lines"] == [answer.text for answer in answers]
    assert shown["flagged"] == [i for i, answer in enumerate(answers) if answer.flags]


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
        expected = PocketTranslator(toy_tflite).translate([line])
        assert browser("translate", line)["lines"] == expected
        assert browser("reload")["state"] == "ready"  # The tab keeps the key.
        assert browser("translate", line)["lines"] == expected
        assert key not in browser("fields")["kept"]
        assert all(key not in address for address in browser("requests"))
        code, log = api.end()
    assert code == 0 and key not in log
