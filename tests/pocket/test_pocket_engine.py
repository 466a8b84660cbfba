"""Terms of a glossary in the translations of a `.tflite` file."""

import random

import numpy as np
import pytest

import kformer
from kformer.inference.glossary import missed_terms
from kformer.inference.source_marks import ABOUT
from kformer.pocket import PocketTranslator
from kformer.pocket.pocket_engine import PocketEngine, _Steps
from support import toy

TERMS = {"hund": "hound", "katze": "tomcat", "baum": "oak tree", "haus": "barn"}
TEXTS = ["der hund sucht den baum .", "die katze sieht uns .", "wir malt ein bild .", ""]


@pytest.fixture(scope="module")
def pocket(toy_tflite):
    return PocketTranslator(toy_tflite)


def test_every_term_is_in_its_translation(pocket, toy_translator):
    glossary = kformer.Glossary(TERMS)
    answers = pocket.translations(TEXTS, glossary=TERMS)
    for text, [best] in zip(TEXTS, answers, strict=True):
        assert missed_terms(glossary.find(text), best.text) == []
    expected = toy_translator.translations(TEXTS, glossary=TERMS, details=False)
    assert [best.flags for [best] in answers] == [best.flags for [best] in expected]
    assert [best.text for [best] in answers[2:]] == pocket.translate(TEXTS[2:])
    [split] = pocket.split_translations([f"{TEXTS[0]}\n{TEXTS[1]}"], glossary=TERMS)
    assert split.text == f"{answers[0][0].text}\n{answers[1][0].text}"
    scored = toy_translator.score(TEXTS[:2], [best.text for [best] in answers[:2]])
    for [best], score in zip(answers, scored, strict=False):
        assert best.score == pytest.approx(score.log_probability, abs=1e-2)


def test_words_are_aligned_as_in_keras(pocket, toy_translator):
    targets = [*toy_translator.translate(TEXTS[:3], split=False), ""]
    assert pocket.facts.aligns
    expected = toy_translator.align(TEXTS, targets)
    for one, other in zip(pocket.align(TEXTS, targets), expected, strict=True):
        assert (one.source, one.target) == (other.source, other.target)
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)
        assert one.links == other.links
    head = kformer.AlignmentHead(1, 1)
    assert pocket.align(TEXTS[0], targets[0]).links == expected[0].links
    assert not np.allclose(
        toy_translator.align(TEXTS[0], targets[0], head=head).weights, expected[0].weights
    )


def test_a_file_that_cannot_align_says_so(pocket, monkeypatch):
    monkeypatch.setattr(pocket, "manifest", {**pocket.manifest, "aligns": False})
    monkeypatch.setattr(pocket, "engine", PocketEngine(pocket))
    with pytest.raises(ValueError, match=r"with one vocabulary and with the signatures.*Received:"):
        pocket.align(TEXTS, TEXTS)


def test_steps_read_equal_beginnings_once(pocket):
    calls = []

    def worker(signature, **inputs):
        calls.append(signature)
        return pocket._team.first(signature, **inputs)

    source, _ = pocket._text.encode(worker, TEXTS[0])
    steps = _Steps(worker, pocket.manifest, source)
    first = steps.log_probability([5, 6, 7, 3])
    assert calls.count("decode_step") == 4
    other = steps.log_probability([5, 6, 8, 3])
    assert calls.count("decode_step") == 5
    anew = [
        _Steps(worker, pocket.manifest, source).log_probability(ids)
        for ids in ([5, 6, 7, 3], [5, 6, 8, 3])
    ]
    np.testing.assert_allclose([first, other], anew, atol=1e-4)


def test_a_file_that_cannot_search_refuses_a_glossary(pocket, monkeypatch):
    manifest = {**pocket.manifest, "one_vocabulary": False}
    monkeypatch.setattr(pocket, "manifest", manifest)
    monkeypatch.setattr(pocket, "engine", PocketEngine(pocket))
    for translate in (pocket.translate, pocket.translations, pocket.split_translations):
        with pytest.raises(ValueError, match=r"`encode` and `decode_step`.*Received: glossary"):
            translate(TEXTS, glossary=TERMS)
    monkeypatch.setattr(pocket, "manifest", {**manifest, ABOUT: ["terms"]})
    monkeypatch.setattr(pocket, "engine", PocketEngine(pocket))
    [[best]] = pocket.translations(TEXTS[:1], glossary={"hund": "xyz"})
    assert best.flags[-1] == "term missed"


@pytest.mark.parametrize("number", [2, 3, 5])
def test_several_translations_are_those_of_the_beams_in_python(toy_tflite, toy_translator, number):
    letters = random.Random(0)  # What the model does not know has beams of many lengths.
    strange = ["".join(letters.choices("adeilnrsuäöüß .,Z", k=count)) for count in range(1, 25)]
    texts = [*toy.SOURCES[:6], "", "\u00fc", *strange]
    pocket = kformer.load(toy_tflite)
    found = pocket.translations(texts, n_best=number)
    options = {"beam_size": number, "n_best": number, "details": False}
    expected = toy_translator.translations(texts, **options)
    for mine, others in zip(found, expected, strict=True):
        assert [each.text for each in mine] == [each.text for each in others]
        assert [each.flags for each in mine] == [each.flags for each in others]
        scores = [each.score for each in mine]
        assert scores == pytest.approx([each.score for each in others], abs=1e-3)


def test_a_file_chooses_its_other_options_itself(toy_tflite):
    with pytest.raises(ValueError, match=r"chosen when it was exported.*beam_size=4"):
        kformer.load(toy_tflite).translations(["x"], n_best=2, beam_size=4)
