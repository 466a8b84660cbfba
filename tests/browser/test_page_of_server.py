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
