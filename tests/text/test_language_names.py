"""Codes of languages that mean the same."""

import pytest

from kformer.text.language_names import _NAME_OF, direction_codes, known_code, language_name


@pytest.mark.parametrize(
    ("code", "known", "expected"),
    [
        ("zt", ("zh", "zh-Hant"), "zh-Hant"),
        ("zh-TW", ("zh", "zt"), "zt"),
        ("zh-CN", ("zh", "zt"), "zh"),
        ("zh-Hans", ("zh",), "zh"),
        ("zh", ("zh-Hans", "zh-Hant"), "zh-Hans"),
        ("zh-TW", ("zh",), "zh-TW"),  # Another script.
        ("pb", ("pt", "pt-BR"), "pt-BR"),
        ("pt-br", ("pt", "pb"), "pb"),
        ("pt_PT", ("pt", "pb"), "pt"),
        ("no", ("nb",), "nb"),
        ("EN", ("en",), "en"),
        ("sr-Latn", ("sr",), "sr-Latn"),
        ("auto", ("de",), "auto"),
        (None, ("de",), None),
    ],
)
def test_a_code_leads_to_the_known_one_of_its_language(code, known, expected):
    assert known_code(code, known) == expected


def test_a_direction_is_divided_between_its_codes():
    codes = ("de", "zh-Hans", "pt-BR", "pt_BR", "sr-Latn-RS", "es-419", "EN", "fil")
    for source in codes:
        for target in codes:
            assert direction_codes(f"{source}-{target}") == (source, target)
    for wrong in ("de", "de-", "-en", "de-en-fr", "de en"):
        with pytest.raises(ValueError, match=f"Received: '{wrong}'"):
            direction_codes(wrong)


def test_a_language_has_the_name_that_unicode_gives_it():
    babel = pytest.importorskip("babel", reason="Not installed: Babel, which comes with Sphinx.")
    for code in _NAME_OF.keys() - {"tl"}:  # Which CLDR calls Filipino.
        assert language_name(code) == babel.Locale.parse(code, sep="-").get_display_name("en")
    assert language_name("pb") == "Portuguese (Brazil)"
    assert language_name("zt") == "Chinese (Traditional)"
    assert language_name("tlh") == "tlh"
