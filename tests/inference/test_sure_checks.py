"""Faults that a translation's text shows by itself are flagged; what is free is not."""

import pytest

from kformer.inference.sure_checks import is_foreign, is_wordless, scripts_of, sure_flags
from support.sure_texts import FREE, LOST


@pytest.mark.parametrize(("source", "target", "flag"), LOST)
def test_what_is_lost_or_copied_has_a_flag(source, target, flag):
    assert flag in sure_flags(source, target)


@pytest.mark.parametrize(("source", "target"), FREE)
def test_what_translators_may_choose_has_none(source, target):
    assert sure_flags(source, target) == ()


def test_a_text_without_words_has_nothing_to_translate():
    for text in ("12345", "05/12/2026", "jane@example.org", "{name}: 5%", "—"):
        assert is_wordless(text)
    assert not is_wordless("12 May")


def test_a_text_is_foreign_if_a_vocabulary_has_none_of_its_scripts():
    scripts = scripts_of(["▁abc", "de", "fghijklmnopqrstuvw", "π", "σ", "1"])
    assert scripts == ["Latin"]  # Two letters are signs.
    assert scripts_of(["домкутябвгжел", "a"]) == ["Cyrillic"]
    assert scripts_of(["abcde", "عر"]) == ["Arabic", "Latin"]
    for text in ("中文", "дом 12", "🎉", "πσ"):
        assert is_foreign(text, scripts)
    for text in ("a", "a 中", "12", "", "-"):
        assert not is_foreign(text, scripts)
