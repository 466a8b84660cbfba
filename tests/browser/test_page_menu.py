"""The menu of a page whose translator translates in several directions."""

import keras
import pytest

import kformer
from browser.chromium import served
from kformer.export import export_tflite, export_web_page
from support.pretrained import marian
from support.serving.served_api import served_api

LINES = ["der hund schläft .", "☃ haus"]
MENU = [
    "German to English",
    "English to German",
    "French to English",
    "French to German (not trained)",
]


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """An imported translator with random weights into two languages."""
    keras.utils.set_random_seed(1)
    words = marian.vocabulary((">>en<<", ">>de<<"))
    folder = tmp_path_factory.mktemp("menu") / "marian"
    network = marian.transformer(words.pieces)
    marian.write_folder(folder, words, network, max_position_embeddings=16)
    translator = kformer.from_marian(folder)
    translator.about["directions"] = ["de-en", "en-de", "fr-en"]
    return translator


@pytest.mark.prove
def test_the_menu_chooses_the_direction_on_both_pages(browser, translator, litert_js, tmp_path):
    tflite = export_tflite(translator, tmp_path / "a.tflite")
    pocket = kformer.load(tflite)
    expected = {
        code: [each.text for each in pocket.split_translations(LINES, target_language=code)]
        for code in ("en", "de")
    }
    assert expected["en"] != expected["de"]
    page = export_web_page(tflite, tmp_path / "page", litert_js)
    with served(page) as address, served_api(tflite) as api:
        for place in (address, f"{api.url}/"):
            opened = browser("open", place)
            assert opened["state"] == "ready", opened
            detects = [] if place == address else ["Detect language to English"]
            assert browser("menu") == MENU + detects and opened["languages"] == ["de", "en"]
            assert browser("translate", "\n".join(LINES))["lines"] == expected["en"]
            other = browser("choose", 1)
            assert other["lines"] == expected["de"] and other["languages"] == ["en", "de"]
            assert other["title"] == "English to German"
            assert browser("count", "button", "Swap the languages") == 1
            browser("look", "void dispatchEvent(new Event('blur'))")
            assert browser("look", "location.hash").startswith("#source=en&target=de&text=")
            kept = browser("reload")
            assert (kept["title"], kept["lines"]) == ("English to German", expected["de"])
            swapped = browser("click", "Swap the languages")
            assert swapped["title"] == "German to English"
            assert swapped["source"].split("\n") == expected["de"]
            assert browser("look", "document.getElementById('directions').value") == "0"
            browser("translate", "\n".join(LINES))
            assert browser("choose", 2)["lines"] == expected["en"]
            assert browser("count", "button", "Swap the languages") == 0  # Nothing leads back.
            untrained = browser("choose", 3)
            assert untrained["title"] == "French to German"
