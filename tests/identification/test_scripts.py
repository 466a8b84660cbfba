"""Words by script."""

import sys
import unicodedata

import pytest

from kformer.identification.scripts import LANGUAGE_OF_SCRIPT, letters_of, words_by_script

# How Unicode's names of letters begin.
NAMES = {
    "Latn": "LATIN",
    "Cyrl": "CYRILLIC",
    "Arab": "ARABIC",
    "Deva": "DEVANAGARI",
    "Grek": "GREEK",
    "Armn": "ARMENIAN",
    "Hebr": "HEBREW",
    "Geor": "GEORGIAN",
    "Thai": "THAI",
    "Laoo": "LAO",
    "Khmr": "KHMER",
    "Mymr": "MYANMAR",
    "Beng": "BENGALI",
    "Guru": "GURMUKHI",
    "Gujr": "GUJARATI",
    "Orya": "ORIYA",
    "Taml": "TAMIL",
    "Telu": "TELUGU",
    "Knda": "KANNADA",
    "Mlym": "MALAYALAM",
    "Sinh": "SINHALA",
    "Kana": ("HIRAGANA", "KATAKANA"),
    "Hang": "HANGUL",
    "Hani": "CJK UNIFIED",
}


def test_the_script_of_a_letter_is_the_one_in_its_unicode_name():
    wrong = []
    for character in map(chr, range(sys.maxunicode)):
        name = unicodedata.name(character, "")
        if unicodedata.category(character)[0] == "L" and len(character.lower()) == 1:
            for script in words_by_script(character):
                if script != "Zyyy" and not name.startswith(NAMES[script]):
                    wrong.append((name, script))
    # These letters are of no script or of several by Unicode, and are written in one.
    signs = ("FEMININE", "MASCULINE", "MODIFIER", "IDEOGRAPHIC", "CJK COMPATIBILITY", "MICRO")
    signs += ("HALFWIDTH", "FULLWIDTH", "KELVIN", "ANGSTROM", "OHM", "COPTIC", "VEDIC")
    assert [pair for pair in wrong if not pair[0].startswith(signs)] == []


@pytest.mark.parametrize("script", NAMES)
def test_the_letters_of_a_script_are_found(script):
    letters = [
        character
        for character in map(chr, range(0xD7A4))
        if unicodedata.category(character) in ("Ll", "Lo")
        and unicodedata.name(character).startswith(NAMES[script])
    ]
    assert {*words_by_script(" ".join(letters[:50]))} == {script}


def test_words_are_in_lower_case_without_addresses_tags_and_numbers():
    text = 'See <b class="x">HERE</b>: https://example.org/ru, me@example.org, 42x, Привет!'
    assert words_by_script(text) == {"Latn": ["see", "here", "x"], "Cyrl": ["привет"]}


def test_marks_and_apostrophes_stay_within_their_words():
    assert words_by_script("l'été हिन्दी می\u200cروم e\u0301te") == {
        "Latn": ["l'été", "e\u0301te"],
        "Deva": ["हिन्दी"],
        "Arab": ["می\u200cروم"],
    }


def test_a_syllable_counts_as_several_letters():
    assert letters_of("Latn", ["ab", "c"]) == 3
    assert letters_of("Hani", ["漢字"]) == 6


def test_each_script_of_one_language_has_another_language():
    assert len({*LANGUAGE_OF_SCRIPT.values()}) == len(LANGUAGE_OF_SCRIPT)
