"""Texts through a translator of sentences: a script that knows only short ones."""

import re
import warnings
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.inference.splitting import (
    SentenceTranslation,
    SplitTranslation,
    check_split,
    translate_split,
)

SPACES = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
MOST = 17  # Characters of a sentence that the script reads.


class Answer(NamedTuple):
    text: str
    flags: tuple[str, ...] = ()


class Script:
    """Translates sentences of at most 17 characters, whole, and remembers all that it was asked."""

    def __init__(self, translate=str.upper):
        self._translate = translate
        self.asked = []

    def __call__(self, sentences, progress=None):
        self.asked.append(list(sentences))
        for sentence in sentences:
            if progress:
                progress(1)
            cut = ("source cut",) if len(sentence) > MOST else ()
            yield Answer(self._translate(sentence[:MOST]), cut)


@given(st.lists(st.text(), max_size=4))
def test_the_translation_by_itself_of_any_text_is_the_text(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of what cannot be halved, such as many accents.
        found = translate_split(Script(str), texts)
    for one, text in zip(found, texts, strict=True):
        if "source cut" not in one.flags:
            # Between sentences of Chinese and Japanese stands no space.
            assert re.sub(SPACES, "", one.text) == re.sub(SPACES, "", text)


@given(st.text(st.sampled_from("AB .,\n"), min_size=1, max_size=200))  # "a." would be a mark.
def test_nothing_is_cut(text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        [one] = translate_split(Script(str.lower), [text])
    assert one.text == text.lower()
    is_split = any(len(sentence.source) > MOST for sentence in one.sentences)
    assert one.flags == (("source split",) if is_split else ())
    assert len(caught) == is_split


def test_sentences_of_all_texts_are_one_batch_each_of_them_once():
    script = Script()
    found = translate_split(script, ["Eins.  Zwei!\n", "", " \t", "Zwei! Drei?\r\n\r\nEins."], "de")
    assert [one.text for one in found] == ["EINS.  ZWEI!\n", "", " \t", "ZWEI! DREI?\r\n\r\nEINS."]
    assert script.asked == [["Eins.", "Zwei!", "Drei?"]]
    assert [one.source for one in found[3].sentences] == ["Zwei!", "Drei?", "Eins."]
    assert found[1] == SplitTranslation("", (), ())


def test_nothing_is_asked_for_texts_without_letters():
    texts = ["", "\n", "---", "😀 …\n\t12.", "•\r\n"]
    script, done = Script(), []
    found = translate_split(script, texts, progress=done.append)
    assert [one.text for one in found] == texts
    assert all(one.sentences == one.flags == () for one in found)
    assert script.asked == [] and sum(done) == len(texts)
    assert translate_split(script, []) == []


def test_marks_and_emoji_stay_where_they_are_and_are_not_translated():
    text = "# Liste\n\n1. Eins! 😀 Zwei.\n   - a) Drei\n---\n> 👉 Vier\n...\n"
    script = Script()
    [one] = translate_split(script, [text], "de")
    assert script.asked == [["Liste", "Eins!", "Zwei.", "Drei", "Vier"]]
    expected = "# LISTE\n\n1. EINS! 😀 ZWEI.\n   - a) DREI\n---\n> 👉 VIER\n...\n"
    assert one.text == expected


@pytest.mark.parametrize(
    ("translations", "expected"),
    [
        ({"好。": "Good."}, "\u3000Good. Good. Good.\n\u3000Good."),
        ({"好。": "いい。"}, "\u3000いい。いい。いい。\n\u3000いい。"),
    ],
)
def test_the_space_between_sentences_is_that_of_the_target(translations, expected):
    [one] = translate_split(Script(translations.get), ["\u3000好。好。 好。\n\u3000好。"], "zh")
    assert one.text == expected


def test_a_sentence_that_is_too_long_is_split_and_flagged():
    text = "Kurz. Es ist lang, es ist sehr lang, und es endet. Kurz."
    with pytest.warns(UserWarning, match=r"^Text 2 has a sentence .* one by one\.$") as caught:
        _, one = translate_split(Script(), ["Ja.", text], "de")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert one.text == text.upper()
    assert one.flags == ("source split",)
    long = "Es ist lang, es ist sehr lang, und es endet."
    assert one.sentences[1] == SentenceTranslation(long, long.upper(), ("source split",))
    assert [sentence.flags for sentence in one.sentences[::2]] == [(), ()]


def test_flags_of_the_parts_are_flags_of_the_whole():
    def find(sentences, progress):
        return [
            Answer(text, ("source cut",) if len(text) > MOST else ("loop",)) for text in sentences
        ]

    with pytest.warns(UserWarning, match="too long"):
        [one] = translate_split(find, ["x" * 20 + ". Y."])
    assert [sentence.flags for sentence in one.sentences] == [("source split", "loop"), ("loop",)]
    assert one.flags == ("source split", "loop")


def test_what_cannot_be_split_is_said_to_be_cut():
    with pytest.warns(UserWarning, match=r"^Text 1 has a sentence .*: its end is missing\.$"):
        [one] = translate_split(Script(str), ["a" + 40 * "\u0301"])
    assert one.flags == ("source cut",)


def test_a_translation_that_had_no_room_is_made_of_parts_too():
    def find(sentences, progress):
        return [Answer(text[:9], ("translation cut",) * (len(text) > 9)) for text in sentences]

    with pytest.warns(UserWarning, match="one by one"):
        [one] = translate_split(find, ["aaa bbb ccc ddd eee"])
    assert one.text == "aaa bbb ccc ddd eee"


def test_progress_is_of_texts():
    done = []
    translate_split(Script(), ["A. B. C. D.", "E.", "F. G."], progress=done.append)
    assert sum(done) == 3 and all(done) and len(done) == 3


def test_arguments_that_do_not_go_together_are_refused():
    check_split(True, "de")
    check_split(False, None, ["x"])
    with pytest.raises(TypeError, match=r"`split` must be True or False. Received: split=1"):
        check_split(1, None)
    with pytest.raises(ValueError, match="Received: source_language='de', split=False"):
        check_split(False, "de")
    with pytest.raises(ValueError, match="Received: prefixes, split=True"):
        check_split(True, None, ["x"])
    with pytest.raises(TypeError, match=r"Received: texts='A. B.'"):
        translate_split(Script(), "A. B.")
