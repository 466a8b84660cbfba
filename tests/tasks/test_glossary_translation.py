"""`glossary` of a translator: terms that it would not choose by itself."""

import keras
import pytest

from kformer import Ensemble, SearchOptions, Transformer, Translator
from kformer.inference.glossary import Glossary, missed_terms
from support import toy
from support.reference import perturbed

TERMS = {"hund": "hound", "katze": "tomcat", "baum": "oak tree", "sieht": "sees"}
GLOSSARY = Glossary(TERMS)


@pytest.fixture(scope="module")
def untrained(tokenizer):
    keras.utils.set_random_seed(3)
    return Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24)))


@pytest.mark.parametrize("beam_size", [1, pytest.param(3, marks=pytest.mark.prove)])
def test_an_untrained_model_writes_every_term(untrained, beam_size):
    texts = toy.SOURCES[:3]
    options = SearchOptions(beam_size=beam_size, max_length=9)
    answers = untrained.translations(texts, options, details=False, glossary=GLOSSARY)
    for text, [best] in zip(texts, answers, strict=True):
        assert missed_terms(GLOSSARY.find(text), best.text) == []
        assert "term missed" not in best.flags


@pytest.mark.prove
def test_a_trained_model_puts_terms_in_their_places(toy_translator):
    texts = ["der hund sucht den baum .", "die katze sieht uns .", "wir malt ein bild .", ""]
    plain = toy_translator.translations(texts)
    answers = toy_translator.translations(texts, glossary=TERMS)
    assert "dog" not in answers[0][0].text.split()
    assert answers[2:] == plain[2:]
    for text, [best] in zip(texts, answers, strict=True):
        assert missed_terms(GLOSSARY.find(text), best.text) == []
        # The score of a translation does not depend on how it was found; a blank one has no tokens.
        assert bool(text) == bool(best.token_log_probabilities)
        assert best.score == pytest.approx(sum(best.token_log_probabilities or ()), abs=1e-3)
    assert toy_translator.translate(texts, glossary=TERMS) == [best.text for [best] in answers]
    [split] = toy_translator.split_translations([f"{texts[0]}\n{texts[1]}"], glossary=TERMS)
    assert split.text == f"{answers[0][0].text}\n{answers[1][0].text}"


@pytest.mark.prove
def test_an_ensemble_takes_a_glossary(toy_translator):
    ensemble = Ensemble([toy_translator, toy_translator])
    texts = ["der hund sucht den baum .", "die katze sieht uns ."]
    assert ensemble.translate(texts, glossary=TERMS) == toy_translator.translate(
        texts, glossary=TERMS
    )
    [[best]] = ensemble.translations(texts[:1], glossary=GLOSSARY)
    [split] = ensemble.split_translations(texts[:1], glossary=GLOSSARY)
    assert best.text == split.text and "hound" in best.text


def test_a_term_that_cannot_be_written_is_flagged(untrained):
    """The normalization of the tokenizer deletes a soft hyphen."""
    text = toy.SOURCES[0]
    glossary = {text.split()[0]: "a\u00adb"}
    [[best]] = untrained.translations([text], SearchOptions(max_length=9), glossary=glossary)
    assert best.flags[-1] == "term missed"
    [split] = untrained.split_translations([text], SearchOptions(max_length=9), glossary=glossary)
    assert "term missed" in split.flags


@pytest.mark.parametrize(
    "options",
    [{"n_best": 2, "beam_size": 2}, {"sample": True}, {"prefixes": [""]}],
)
def test_several_answers_samples_and_prefixes_are_refused(untrained, options):
    with pytest.raises(ValueError, match=f"Received: glossary, {next(iter(options))}"):
        untrained.translate([toy.SOURCES[0]], glossary=TERMS, **options)
