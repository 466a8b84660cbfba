"""BLEU as papers give it: lowercased, tokenised by Moses."""

import importlib.metadata
import sys

import pytest
import sacrebleu

from kformer.text.scores import bleu, moses_bleu, moses_tokenizer
from support import toy

REFERENCES = [
    "Der Hund läuft, „schnell“ & laut, z.B. heute.",
    'Am 3. Mai sagt sie: "Wie geht\'s dem 2,5-fachen Preis?"',
    "Ein Hip-Hop-Tänzer [links] tanzt ...",
]
BY_HAND = [  # By the rules of tokenizer.perl.
    "der hund läuft , „ schnell “ & laut , z.b. heute .",
    'am 3. mai sagt sie : " wie geht \' s dem 2,5-fachen preis ? "',
    "ein hip-hop-tänzer [ links ] tanzt ...",
]
TRANSLATIONS = [
    "der Hund läuft, „schnell“ und laut, z.B. heute.",
    'Am 3. Mai sagt sie: "Wie geht\'s dem Preis?"',
    "Ein Hip-Hop-Tänzer tanzt ...",
]
HAND_TRANSLATIONS = [
    "der hund läuft , „ schnell “ und laut , z.b. heute .",
    'am 3. mai sagt sie : " wie geht \' s dem preis ? "',
    "ein hip-hop-tänzer tanzt ...",
]


@pytest.mark.parametrize(("text", "tokens"), [*zip(REFERENCES, BY_HAND, strict=True)])
def test_tokens_are_lowercase_and_apart_and_not_escaped(text, tokens):
    assert moses_tokenizer("de")(text) == tokens


def test_the_score_is_that_of_the_tokens():
    expected = sacrebleu.corpus_bleu(HAND_TRANSLATIONS, [BY_HAND], tokenize="none", force=True)
    assert 0 < expected.score < 100
    score = moses_bleu(TRANSLATIONS, REFERENCES, "de").value
    assert score == pytest.approx(expected.score)
    assert score != pytest.approx(bleu(TRANSLATIONS, REFERENCES).value, abs=0.1)


def test_case_does_not_count():
    assert moses_bleu([x.upper() for x in TRANSLATIONS], REFERENCES, "de") == moses_bleu(
        TRANSLATIONS, REFERENCES, "de"
    )


def test_the_language_decides_what_an_apostrophe_does():
    assert moses_tokenizer("en")("It's") == "it 's"
    assert moses_tokenizer("fr")("L'eau") == "l' eau"
    assert moses_tokenizer("de")("Geht's") == "geht ' s"


def test_the_signature_names_the_tokenizer_and_its_version():
    signature = moses_bleu(TRANSLATIONS, REFERENCES, "de").signature
    version = importlib.metadata.version("sacremoses")
    assert signature == (
        f"nrefs:1|case:lc|eff:no|tok:moses-de-{version}|smooth:exp|version:{sacrebleu.__version__}"
    )


@pytest.mark.parametrize("language", ["german", "DE", "", "xx"])
def test_a_language_without_rules_is_not_taken_for_english(language):
    with pytest.raises(ValueError, match=rf"one of as, .*, de, .*Received: language='{language}'"):
        moses_bleu(TRANSLATIONS, REFERENCES, language)


def test_without_sacremoses_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(ImportError, match=r"pip install 'kformer\[moses\]'"):
        moses_tokenizer("de")


def test_evaluate_prints_both_with_their_signatures(command, toy_run, toy_keras, toy_translator):
    files = ("--source", toy_run.files["valid.de"], "--reference", toy_run.files["valid.en"])
    result = command("evaluate", toy_keras, *files, "--moses", "en")
    pair = toy_translator.translate(toy.SOURCES[toy.HELD_OUT]), toy.TARGETS[toy.HELD_OUT]
    assert (result.returncode, result.stderr) == (0, "")
    first, second, *_ = result.stdout.splitlines()
    for line, score in ((first, bleu(*pair)), (second, moses_bleu(*pair, "en"))):
        assert line.split() == ["BLEU", f"{score.value:.2f}", score.signature]


def test_evaluate_says_what_to_install(refused, toy_run, toy_keras, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    files = ("--source", toy_run.files["valid.de"], "--reference", toy_run.files["valid.en"])
    assert "pip install 'kformer[moses]'" in refused("evaluate", toy_keras, *files, "--moses", "de")
