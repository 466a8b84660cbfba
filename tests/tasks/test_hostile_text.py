"""Whatever comes as text, an answer comes for it: no crash, no stall, no memory without bound."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kformer import Tokenizer, Transformer, Translator
from kformer.text.text_rows import MAX_CHARACTERS, read_texts
from support.reference import perturbed

HOSTILE = [
    "\x00",
    "a\x00b",
    "".join(map(chr, range(32))),
    "\x7f\x80\x85\x9f",
    "\ufeffhund",
    "\u202ehund\u202c \u200f\u2066ja\u2069",
    "👩‍👩‍👧‍👦" * 40,
    "🇩🇪🏳️‍🌈",
    "e" + "\u0301" * 500,
    "\u2028\u2029",
    "\u2581\u2581hund",
    "<s> </s> <pad> <unk> <0x0A>",
    "\ue000\uffff\U0010ffff",
    "\ud800",
    "hund\udcff\udfff",
    "ﷺ" * 99,
    "%s %n {} ${jndi:x} \\ \" '",
    "\u200b",
]
any_text = st.text(st.characters(), max_size=20)  # With halves of surrogate pairs, too.


@pytest.fixture(scope="module")
def translator(tokenizer):
    return Translator(tokenizer, perturbed(Transformer(400, 1, 16, 2, 24)))


def assert_answered(translations, texts):
    assert len(translations) == len(texts)
    for several in translations:
        several[0].text.encode("utf-8")
        assert len(several[0].token_log_probabilities) == len(several[0].tokens)


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:.*over the limit")
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:20])
def test_odd_characters_are_answered(translator, text):
    texts = [text, "ein bier", text]
    answers = translator.translations(texts, prefixes=texts)
    assert_answered(answers, texts)
    assert answers[0][0].text == answers[2][0].text
    [scored] = translator.score([text], [text])
    assert scored.log_probability < 0


@pytest.mark.filterwarnings("ignore:.*over the limit")
@settings(max_examples=min(30, settings.default.max_examples))
@given(st.lists(any_text, max_size=4))
def test_any_text_is_answered(translator, texts):
    assert_answered(translator.translations(texts), texts)


def test_half_of_a_pair_is_read_as_the_replacement_character(tokenizer):
    rows = read_texts(tokenizer, ["a\ud800b", "a\ufffdb"], 99).ids
    assert rows[0] == rows[1]


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:.*over the limit")
@pytest.mark.parametrize(
    "text",
    ["x" * 10**6, "ein hund " * 111_111, "🐕" * 10**6, "\u0301" * 10**6, " " * 10**6 + "x"],
    ids=["letters", "words", "emoji", "accents", "spaces"],
)
def test_a_megabyte_in_a_line_is_read_up_to_the_limit(tokenizer, text):
    lengths = []

    class Reading(Tokenizer):
        def tokenize(self, texts):
            lengths.extend(map(len, texts))
            return super().tokenize(texts)

    transformer = perturbed(Transformer(400, 1, 16, 2, 24))
    translator = Translator(Reading(tokenizer.model), transformer)
    expected = f"Sentence 2 has {len(text)} characters, over the limit of 100000: only its first"
    start = time.monotonic()
    with pytest.warns(UserWarning, match=expected):
        (short, *_), (long, *_) = translator.translations(["ja", text])
    assert time.monotonic() - start < 60
    assert lengths == [2, MAX_CHARACTERS]
    assert len(long.source_tokens) <= translator.max_source_length
    assert "source cut" in long.flags and "source cut" not in short.flags


def test_ten_thousand_blank_lines_cost_nothing(tokenizer):
    class Unused(Transformer):
        def start(self, *_):
            raise AssertionError("There is nothing to translate.")

    translator = Translator(tokenizer, Unused(400, 1, 16, 2, 24))
    assert translator.translate(["", " \t"] * 5000) == [""] * 10_000


@pytest.mark.prove
def test_invisible_characters_change_no_translation_in_any_form(command, toy_model):
    invisible = "\xad\u034f\u180e\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufe0f\ufeff\U000e0041"
    lines = [
        "wir ruft uns .",
        *(f"{one}wi{one}r {one} ruft{one} uns{one} .{one}" for one in invisible),
    ]
    blank = [*invisible, invisible, f" {invisible} "]
    text = "\n".join([*lines, *blank])
    result = command("translate", toy_model, stdin=f"{text}\n".encode())
    # Behind a sentence, characters without letters stay as they are.
    found = [re.sub(f"[{invisible}]+$", "", line) for line in result.stdout.split("\n")]
    assert found[0] and found[: len(lines)] == [found[0]] * len(lines)
    assert found[len(lines) :] == [""] * (len(blank) + 1)


@pytest.mark.prove
@pytest.mark.filterwarnings("default")
def test_hostile_lines_give_a_line_each_from_every_form(command, toy_model):
    odd = [text.encode("utf-8", "replace") for text in HOSTILE]
    odd = [text.replace(b"\n", b"").replace(b"\r", b"") for text in odd]
    lines = [*odd, b"x" * 10**6, *[b""] * 10_000, b"wir ruft uns ."]
    result = command("translate", toy_model, stdin=b"\n".join(lines))
    assert result.returncode == 0
    assert result.stdout.count("\n") == len(lines)
    assert result.stdout.splitlines()[-1]
    assert f"Line {len(odd) + 1} " in result.stderr
