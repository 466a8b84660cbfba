"""The methods of every translator, over an engine that is a dictionary."""

import dataclasses
import re

import numpy as np
import pytest

import kformer
from kformer import AnyTranslator, SearchOptions, Translation
from kformer.inference.capitals import reads_capitals
from kformer.inference.engine import Engine, Rated, SearchRequest
from kformer.inference.facts import ModelFacts

WORDS = {"der": "the", "hund": "dog", "sieht": "sees", "die": "the", "katze": "cat", "": ""}


def refused(call, received):
    with pytest.raises((TypeError, ValueError), match=re.escape(received)):
        call()
    return True


class Dictionary(Engine):
    """Translates word by word; each word has a log-probability of -1, an unknown one of -9."""

    def __init__(self, words, **facts):
        self.words, self.requests, self.lost = words, [], "\0"
        self.facts = ModelFacts(**facts)

    def search(self, sentences, request):
        self.requests.append(request)
        if request.progress:
            request.progress(len(sentences))
        return [[self._answer(" ".join(map(self._word, text.split())))] for text in sentences]

    def rate(self, sentences, translations, request):
        return [
            Rated(self._answer(text), self._answer(text).score, text.split(), [-1.0])
            for text in translations
        ]

    def _word(self, word):
        return self.words.get(word.strip("."), word)

    def _answer(self, text):
        text = text.replace(self.lost, "?")
        known = {*self.words.values()}
        score = -float(sum(1 if word in known else 9 for word in text.split()))
        return Translation(text, score, ("unsure",) if score < -8 else ())


class Scripted(AnyTranslator):
    def __init__(self, engine):
        self.engine = engine


@pytest.fixture
def engine():
    return Dictionary(
        WORDS, about={"source_language": "de"}, target_language="en", scores=True, no_terms=None
    )


@pytest.fixture
def translator(engine):
    return Scripted(engine)


def test_one_text_or_many_are_translated(translator):
    assert translator.translate("der hund") == "the dog"
    assert translator.translate(["der hund", ""]) == ["the dog", ""]
    [[best]] = translator.translations(["der hund"])
    assert best == Translation("the dog", -2.0)
    assert translator.translations("der hund") == [best]


def test_texts_of_many_sentences_are_split(translator):
    done = []
    texts = ["der hund\nder hund\n\n- die katze", "katze"]
    answers = translator.split_translations(texts, progress=done.append)
    assert [answer.text for answer in answers] == ["the dog\nthe dog\n\n- the cat", "cat"]
    assert sum(done) == 2
    assert translator.translate(texts, split=True) == [answer.text for answer in answers]
    assert [each.source for each in answers[0].sentences] == ["der hund", "der hund", "die katze"]


def test_a_missing_term_is_forced_and_its_flag_stands_before_the_doubt(engine, translator):
    [[best], [plain]] = translator.translations(["der hund", "die katze"], glossary={"hund": "cat"})
    assert best.text == "the cat" and best.flags == ()
    assert plain == Translation("the cat", -2.0)
    [[best]] = translator.translations(["hund " * 17], glossary={"hund": "beagle"})
    assert best.text.split() == ["beagle"] * 17 and best.flags == ("unsure",)
    engine.lost = "ß"
    [[best]] = translator.translations(["der hund xyz"], glossary={"hund": "ßß"})
    assert best.flags == ("term missed", "unsure")


def test_an_engine_without_scores_refuses_a_glossary_with_its_own_reason():
    translator = Scripted(Dictionary(WORDS, no_terms="No terms here. Received: x."))
    assert refused(lambda: translator.translate("hund", glossary={"hund": "cat"}), "No terms here")
    assert refused(translator.check_takes_glossary, "Received: x.")


def test_options_are_the_engines_own_unless_the_caller_may_choose_them(engine, translator):
    engine.facts = ModelFacts(search=SearchOptions(beam_size=3))
    translator.translate(["hund"])
    assert engine.requests[-1].options == SearchOptions(beam_size=3)
    message = "chosen when it was exported.*Received: n_best=2"
    with pytest.raises(ValueError, match=message):
        translator.translations(["hund"], n_best=2)
    engine.facts = ModelFacts(search=SearchOptions(beam_size=3), choices=frozenset({"n_best"}))
    translator.translations(["hund"], n_best=2)
    assert engine.requests[-1].options == SearchOptions(beam_size=3, n_best=2)
    engine.facts = ModelFacts(choices=None)
    for ask in (translator.translations, translator.split_translations):
        ask(["hund"], SearchOptions(beam_size=5), max_length=7)
        assert engine.requests[-1].options == SearchOptions(beam_size=5, max_length=7)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"progres": print}, "`translate` has no argument `progres`; use `progress`"),
        ({"num_beams": 4}, "`translate` has no argument `num_beams`; use `beam_size`"),
    ],
)
def test_a_near_name_of_an_argument_or_an_option_is_proposed(translator, given, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        translator.translate(["hund"], **given)


def test_what_stands_behind_the_texts_needs_a_name(translator):
    with pytest.raises(
        TypeError, match=r"`translate` must get .* by name after the first 1\. Received: 4 without"
    ):
        translator.translate(["hund"], 4)


def test_prefixes_are_for_engines_that_take_them(engine, translator):
    translate = translator.translate
    assert refused(lambda: translate(["hund"], prefixes=["a"]), "1 prefixes with Scripted")
    engine.facts = ModelFacts(takes_prefixes=True)
    translator.translate(["hund"], prefixes=["a"])
    assert engine.requests[-1].prefixes == ["a"]
    assert refused(lambda: translator.translate(["hund"], prefixes=[]), "1 texts, 0 prefixes")


def test_a_language_is_one_of_the_models(engine, translator):
    assert translator.into(None) is translator
    assert refused(lambda: translator.translate("hund", target_language="fr"), "because it has no")
    engine.facts = ModelFacts(target_languages=("en", "fr"))
    assert refused(lambda: translator.translate("hund"), "languages: en, fr")


def test_the_direction_that_was_not_trained_is_warned_of(engine, translator):
    engine.facts = ModelFacts(about={"directions": ["de-en"]}, target_language="en")
    with pytest.warns(UserWarning, match="zero-shot"):
        answer = translator.split_translations("hund", source_language="fr")
    assert answer.text == "dog"


def test_all_translators_are_of_one_class():
    demo = kformer.demo()
    assert isinstance(demo, AnyTranslator) and kformer.SavedTranslator is AnyTranslator
    assert issubclass(kformer.Translator, AnyTranslator)
    assert issubclass(kformer.Ensemble, AnyTranslator)
    assert issubclass(kformer.serving.Client, AnyTranslator)
    assert demo.facts.source_language == "de" and demo.facts.target_language == "en"


def test_a_request_has_no_progress_and_no_warnings_for_terms(engine, translator):
    done = []
    translator.translations(["der hund"], glossary={"hund": "cat"}, progress=done.append)
    assert done == [1] and isinstance(engine.requests[0], SearchRequest)


@pytest.fixture
def learned_sentences():
    """A translator that learned from single sentences without capitals."""
    about = {"source_language": "de", "single_sentences": True, "reads_capitals": False}
    return Scripted(Dictionary(WORDS, about=about, target_language="en"))


def test_a_model_of_single_sentences_reads_them_one_by_one(learned_sentences, translator):
    text = "Der hund. Die katze."
    assert translator.translate(text, split=False) == translator.translate(text)
    expected = translator.translate(text, split=True)
    assert learned_sentences.translate(text) == expected
    [best] = learned_sentences.translations(text)
    assert best.text == expected
    sentences = ("Der hund.", "Die katze.")
    parts = [learned_sentences.translations(each, split=False)[0] for each in sentences]
    assert best.score == sum(part.score for part in parts)
    assert best.flags == ("unsure",)


def test_several_answers_and_lines_as_they_are_have_no_sentences(learned_sentences):
    text = "Der hund. Die katze."
    for settings in ({"split": False}, {"n_best": 2, "beam_size": 2}, {"sample": True}):
        learned_sentences.engine.facts = ModelFacts(
            about=learned_sentences.facts.about, choices=None
        )
        learned_sentences.engine.search = lambda texts, _: [
            [Translation(text, 0.0)] for text in texts
        ]
        [best, *_] = learned_sentences.translations(text, **settings)
        assert best.text == text


def test_the_facts_of_several_sentences_are_joined(learned_sentences):
    attention = {"Eins.": np.ones((2, 3)), "Zwei Drei.": np.full((1, 2), 2.0)}

    def search(texts, _):
        return [
            [
                Translation(
                    text.lower(),
                    -1.0,
                    tokens=tuple(text),
                    source_tokens=(text,),
                    token_log_probabilities=(-0.5,),
                    attention=attention[text],
                    quality=1 / len(text),
                )
            ]
            for text in texts
        ]

    learned_sentences.engine.search = search
    [best] = learned_sentences.translations("Eins. Zwei Drei.")
    assert (best.text, best.score, best.quality) == ("eins. zwei drei.", -2.0, 0.1)
    assert best.tokens == (*"Eins.", *"Zwei Drei.")
    assert best.source_tokens == ("Eins.", "Zwei Drei.")
    assert best.token_log_probabilities == (-0.5, -0.5)
    assert best.attention.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 2, 2]]


def test_capitals_are_read_in_small_letters_by_a_model_that_never_saw_any(
    learned_sentences, translator
):
    assert translator.translate("DER HUND") == "DER HUND"
    assert learned_sentences.translate("DER HUND", split=False) == "DER DOG"  # "Der" is no word.
    assert learned_sentences.translations(["SIEHT DIE KATZE. HUND"])[0][0].text.endswith("CAT HUND")
    for text in ("HUND", "Der HUND", "der A", "A B", "123 456", "EU USA"):
        assert learned_sentences.translate(text, split=False) == translator.translate(text)


def test_whether_a_vocabulary_knows_capitals_shows_in_its_pieces():
    small = ["▁hund", "▁katze", "▁sieht", "H", "U", "▁"]
    assert not reads_capitals(small)
    assert reads_capitals([*small, "▁HUND"])
    assert reads_capitals(["H", "U"])  # Nothing is known of a vocabulary of characters.


def test_a_text_that_a_model_cannot_spell_stays_as_it_is():
    about = {"single_sentences": True, "scripts": ["Latin"]}
    translator = Scripted(Dictionary(WORDS, about=about, target_language="en"))
    for split in (None, False):
        assert translator.translate(["中文。", "der hund"], split=split)[0] == "中文。"
        [best] = translator.translations("中文。", split=split)
        assert (best.text, best.flags) == ("中文。", ("unknown characters",))
    [known] = Scripted(Dictionary(WORDS)).translations("中文。")
    assert known.flags != ("unknown characters",)


def test_flags_are_those_of_the_text_and_wordless_texts_are_right():
    def search(texts, _):
        answer = {"der hund {a} 2017": "dog", "12345": "12345"}
        return [[Translation(answer[text], 0.0, ("unsure",), quality=0.1)] for text in texts]

    translator = Scripted(Dictionary(WORDS))
    translator.engine.search = search
    [[lost], [number]] = translator.translations(["der hund {a} 2017", "12345"])
    assert lost.flags == ("number missed", "placeholder missed", "unsure")
    assert (number.flags, number.quality) == ((), 1.0)


def test_a_text_without_sentences_has_the_answer_to_a_blank_one(learned_sentences):
    [blank] = learned_sentences.translations("", split=False)
    for text in ("", "  \n", "12", "\u00ad"):
        [best] = learned_sentences.translations(text)
        assert best == dataclasses.replace(blank, text=text.strip())
    assert learned_sentences.translate("Der hund.\0\0") == learned_sentences.translate("Der hund.")
