"""Faults that a translation's text shows by itself are flagged; what is free is not."""

import pytest

from kformer.inference.sure_checks import is_foreign, is_wordless, scripts_of, sure_flags


@pytest.mark.parametrize(
    ("source", "target", "flag"),
    [
        ("We saw 3,500 birds.", "Vimos 350 aves.", "number missed"),
        ("An act of 2017.", "Uma lei.", "number missed"),
        ("It has 7.5 points.", "Tem pontos.", "number missed"),
        ("Write to jane@example.org.", "Escreva para jane-example.org.", "address missed"),
        ("See https://example.org/a.", "Veja https://example.org.", "address missed"),
        ("Hello {name}!", "Olá [nome]!", "placeholder missed"),
        ("Copied %1$s of %2$d.", "Copiado %1$s.", "placeholder missed"),
        ("Press `Enter` now.", "Prima agora.", "placeholder missed"),
        ("It is near (20 miles).", "Fica perto.", "bracket missed"),
        ("He likes 🎉 parties.", "Ele gosta de festas.", "unknown characters"),
        ("The word 中文 is old.", "A palavra é antiga.", "unknown characters"),
        ("Il ne faut pas le faire ici.", "Il ne faut pas le faire ici.", "copied"),
        ("Il ne faut pas le faire tous ici.", "Il ne faut pas le faire ici.", "copied"),
        ("Ha, so it is.", "O o o o o.", "loop"),
    ],
)
def test_what_is_lost_or_copied_has_a_flag(source, target, flag):
    assert flag in sure_flags(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Three or 3 or 12 birds.", "Três ou três ou doze aves."),
        ("It was 3,500 then 1.50.", "Foram 3.500 e depois 1,5."),
        ("It costs $350,000.", "Custa 350 mil dólares."),
        ("Mais de 380 000 habitantes.", "More than 380,000 inhabitants."),
        ("At 7.55am in the 19th century.", "Às 7h55 no século XIX."),
        ("The H1N1 and the A-380.", "O vírus e o avião."),
        ("On 05/12/2026.", "Em 5 de dezembro de 2026."),
        ("See www.example.org/a, please.", "Por favor, veja www.example.org/a."),
        ("Hello {{name}} and %s.", "Olá %s e {{name}}."),
        ("50 % of it.", "50% disso."),
        ("It is (very) near.", "Fica（muito）perto."),
        ("“Very” – naïve …", '"Muito" - ingénuo...'),
        ("Новый дом 🎉.", "A new house 🎉."),
        ("New York Times", "New York Times"),
        ("jane@example.org", "jane@example.org"),
        ("Ha ha ha ha ha!", "Ha ha ha ha ha!"),
        ("日本語は難しい。", "Japanese is difficult."),
        ("Japanese is difficult.", "日本語は難しい。"),
        ("", "12"),
        (" \n", ""),
    ],
)
def test_what_translators_may_choose_has_none(source, target):
    assert sure_flags(source, target) == ()


def test_a_text_without_words_has_nothing_to_translate():
    for text in ("12345", "05/12/2026", "jane@example.org", "{name}: 5%", "—"):
        assert is_wordless(text)
    assert not is_wordless("12 May")


def test_a_text_is_foreign_if_a_vocabulary_has_none_of_its_scripts():
    scripts = scripts_of(["▁abc", "de", "fghijklmnopqrstuvw", "π", "σ", "1"])
    assert scripts == ["Latin"]  # Two letters are signs.
    assert scripts_of(["дом", "кут", "a"]) == ["Cyrillic"]
    assert scripts_of(["abcde", "عر"]) == ["Arabic", "Latin"]
    for text in ("中文", "дом 12", "🎉", "πσ"):
        assert is_foreign(text, scripts)
    for text in ("a", "a 中", "12", "", "-"):
        assert not is_foreign(text, scripts)
