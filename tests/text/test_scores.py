"""Scores are sacreBLEU's, with what makes them comparable."""

import pytest
import sacrebleu

from kformer.text.scores import bleu, chrf, exact
from support import toy

REFERENCES = toy.TARGETS[:20]
TRANSLATIONS = [line.replace("the", "a", 1) if i % 3 else line for i, line in enumerate(REFERENCES)]


@pytest.mark.parametrize(
    ("score", "theirs"), [(bleu, sacrebleu.corpus_bleu), (chrf, sacrebleu.corpus_chrf)]
)
def test_scores_are_those_of_sacrebleu(score, theirs):
    expected = theirs(TRANSLATIONS, [REFERENCES])
    assert 0 < expected.score < 100
    assert score(TRANSLATIONS, REFERENCES).value == expected.score


def test_the_signature_says_how_it_was_measured():
    of_bleu = bleu(TRANSLATIONS, REFERENCES).signature
    assert "case:mixed" in of_bleu and "tok:13a" in of_bleu
    assert "nc:6|nw:0" in chrf(TRANSLATIONS, REFERENCES).signature
    for signature in (of_bleu, chrf(TRANSLATIONS, REFERENCES).signature):
        assert signature.startswith("nrefs:1|")
        assert signature.endswith(f"version:{sacrebleu.__version__}")


@pytest.mark.parametrize("score", [bleu, chrf])
def test_a_perfect_translation_scores_100(score):
    assert score(REFERENCES, REFERENCES).value == pytest.approx(100)


def test_case_and_blank_translations_count():
    assert bleu([line.upper() for line in REFERENCES], REFERENCES).value < 50
    assert bleu([""] * 20, REFERENCES).value == 0


def test_exact_is_the_share_that_is_right_to_the_letter():
    assert exact(["a", "b", "C", " d"], ["a", "b", "c", "d"]) == 50
    assert exact([""], [""]) == 100


@pytest.mark.parametrize("score", [bleu, chrf, exact])
@pytest.mark.parametrize("translations, references", [(2, 3), (3, 2), (0, 0)])
def test_every_translation_needs_its_reference(score, translations, references):
    message = f"Received: {translations} translations, {references} references"
    with pytest.raises(ValueError, match=message):
        score(REFERENCES[:translations], REFERENCES[:references])
