"""Letters and scripts; the reference is a plain loop over the characters."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.training import PreparationOptions
from kformer.training.preparation.cleaning import Cleaning, Letters
from kformer.training.preparation.raw_pairs import Pairs

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Mn", "Me", "Mc"]))


def counted(text, script=None):
    kinds = [unicodedata.category(character)[0] for character in text]
    letters = [character for character, kind in zip(text, kinds, strict=True) if kind == "L"]
    named = [one for one in letters if unicodedata.name(one, "").startswith(script)]
    return sum(kind not in "ZC" for kind in kinds), len(letters), len(named)


@given(st.lists(TEXTS, min_size=1, max_size=9))
def test_letters_are_those_of_a_loop(texts):
    for script in ("Latin", "Cyrillic"):
        found = zip(*(one.tolist() for one in Letters([script]).count(texts)), strict=True)
        for text, (characters, letters, chosen) in zip(texts, found, strict=True):
            expected = counted(text, script.upper())
            assert characters == expected[0]
            assert letters <= expected[1]  # A modifier letter is of no script.
            assert chosen <= expected[2] + text.count("Ａ")


@pytest.mark.parametrize(
    ("scripts", "text", "share"),
    [
        ("Latin", "Größe: 5 µm", 6 / 7),
        ("Latin", "ＡＢＣ ｄｅ", 1),
        ("Cyrillic", "Привет, world", 6 / 11),
        ("han", "日本語 (々)", 1),
        ("Han,Hiragana,Katakana", "東京タワーに行く。", 1),
        ("Devanagari", "नमस्ते", 1),
        ("Arabic", "مرحبا", 1),
        ("Hangul", "안녕 hi", 0.5),
        ("Greek", "123 !", 0),
    ],
)
def test_scripts_are_known_by_their_names(scripts, text, share):
    _, letters, chosen = (one[0] for one in Letters(scripts.split(",")).count([text]))
    assert chosen == round(share * letters)


def test_another_script_is_unknown():
    with pytest.raises(ValueError, match=r"one of Unicode's.* Received: 'Klingon'"):
        Letters(["Klingon"])


GERMAN = "gestern sind wir lange durch die alte stadt gelaufen"
ENGLISH = "yesterday we walked through the old town for a long time"


def dropped(pair, **options):
    """The rule that drops a pair, or None."""
    kept, counts = Cleaning(PreparationOptions(**options))(Pairs([pair[0]], [pair[1]]))
    [*rules] = (name for name, number in counts.items() if number)
    assert len(kept.source) + len(rules) == 1
    return rules[0] if rules else None


@pytest.mark.parametrize(
    ("pair", "options", "rule"),
    [
        (("ein haus", "a house"), {}, None),
        (("  ", "a house"), {}, "blank"),
        (("Peter ", " Peter"), {}, "identical"),
        (("Peter", "Peter"), {"keep_identical": True}, None),
        (("12 345", "12,345"), {}, "few_letters"),
        (("12 345", "12,345"), {"min_letters": 0}, None),
        (("ein haus", "***** a"), {}, "few_letters"),
        (("ja 12", "yes 12"), {}, None),
        (("ein haus", "один дом"), {"target_script": "Latin"}, "other_script"),
        (("ein haus", "один дом"), {"source_script": "Latin"}, None),
        (("ein haus", "один дом"), {"target_script": "Latin,Cyrillic"}, None),
        ((GERMAN, ENGLISH), {"source_language": "de", "target_language": "en"}, None),
        ((ENGLISH, GERMAN), {"source_language": "de"}, "other_language"),
        ((GERMAN, GERMAN.upper()), {"target_language": "en"}, "other_language"),
        ((GERMAN, "Peter Müller"), {"target_language": "en"}, None),
        (("5 + 5", "5 + 5 = 10"), {"target_script": "Latin", "min_letters": 0}, None),
    ],
)
def test_each_rule_drops_what_it_names(pair, options, rule):
    assert dropped(pair, **options) == rule
