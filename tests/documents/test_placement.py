"""Codes go back into any answer: each exactly once, well nested, in their order where they can."""

import re

import hypothesis.strategies as st
import numpy as np
from hypothesis import example, given

from kformer.documents.placeholders import keep_pattern, with_placeholders
from kformer.documents.placement import TakenText
from kformer.documents.segments import Code, Role, partners
from kformer.documents.word_places import SentencePair, WordPlaces

WORDS = st.lists(st.sampled_from(["a", "dog", "ran", "home", ",", "Ünü", "日本語", "1.5", "—"]))
TEXTS = st.one_of(WORDS.map(" ".join), st.text(max_size=20))


@st.composite
def segments(draw, depth=3):
    """Texts with codes that are well nested, some of them with a text that is shown."""
    parts = []
    for number in range(draw(st.integers(0, 4))):
        parts.append(draw(TEXTS))
        name = f"{depth}.{number}"
        if draw(st.booleans()):
            shown = draw(st.sampled_from(["", "{x}", "print", "%s", "dog"]))
            parts.append(Code((f"[{name}]",), shown=shown))
        elif depth:
            inner = draw(segments(depth=depth - 1))
            ends = (Code((f"<{name}>",), role, name) for role in (Role.OPEN, Role.CLOSE))
            parts += [next(ends), *inner, next(ends)]
    return [part for part in (*parts, draw(TEXTS)) if part]


def codes(parts):
    return [part for part in parts if isinstance(part, Code)]


def key(code):
    return code.raw, code.role.name


@given(segments(), TEXTS, st.booleans(), st.booleans())
def test_each_code_is_in_any_answer_once_and_well_nested(parts, answer, with_shown, ordered):
    taken = TakenText(parts) if with_shown else TakenText(parts).without()
    result = taken.put_back(answer, ordered=ordered)
    assert sorted(map(key, codes(result))) == sorted(map(key, codes(parts)))
    assert partners(result)[1]
    if ordered:
        assert codes(result) == codes(parts)
    if not with_shown:  # The answer itself is whole, but for spaces beside what was put into it.
        text = "".join(part for part in result if isinstance(part, str))
        assert re.sub(r"\s", "", text) == re.sub(r"\s", "", answer)


def ends(name):
    return [Code((f"<{name}>",), role, name) for role in (Role.OPEN, Role.CLOSE)]


@given(segments())
@example([ends("x")[0], "a a a a", ends("x")[1], *ends("y"), "a a a a a"])
def test_the_text_itself_as_an_answer_gives_the_segment(parts):
    taken = TakenText(parts)
    sentences = [SentencePair(taken.text, taken.text)]
    if not taken.lost(taken.text):
        result = taken.put_back(taken.text, sentences)
        assert codes(result) == codes(parts)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))), TEXTS)
def test_a_place_is_always_within_the_translation(source, spans, target):
    places = WordPlaces(source, target, [])
    for first, second in spans:
        start, end = sorted((min(first, len(source)), min(second, len(source))))
        begin, stop = places.span(start, end)
        assert 0 <= begin <= stop <= len(target)
        assert 0 <= places.point(start) <= len(target)


@given(WORDS.filter(len), WORDS.filter(len))
@example(["a", "dog"], ["ran", "Banana", "mad"])
def test_a_span_of_whole_words_is_never_a_part_of_a_word(source, target):
    source, target = " ".join(source), " ".join(target)
    places = WordPlaces(source, target, [])
    for word in re.finditer(r"[^\W_]+", source):
        for place in places.span(*word.span()):
            sides = target[max(place - 1, 0) : place + 1]
            is_in_word = 0 < place < len(target) and sides.isalnum() and sides.isascii()
            assert not is_in_word or "1.5" in target


def bold(parts):
    """Parts for a text with `*` around spans, and `{x}` in it."""
    result, opened = [], False
    for part in re.split(r"(\*)", parts):
        if part == "*":
            result.append(Code(("*",), Role.CLOSE if opened else Role.OPEN, "b"))
            opened = not opened
        elif part:
            result.append(part)
    return with_placeholders(result, keep_pattern())


def put(source, answer, links=None, with_shown=True):
    taken = TakenText(bold(source)) if with_shown else TakenText(bold(source)).without()
    weights = None
    if links:
        weights = np.zeros((len(answer.split()), len(taken.text.split())))
        weights.T[tuple(zip(*links, strict=True))] = 1
    pairs = [SentencePair(taken.text, answer, weights)]
    return "".join(
        part if isinstance(part, str) else part.raw for part in taken.put_back(answer, pairs)
    )


def test_weights_of_words_place_spans_and_siblings_may_change_places():
    links = [(0, 1), (1, 0), (2, 2)]
    assert put("*red* *dogs* bark", "chiens rouges aboient", links) == "*chiens* *rouges* aboient"
    assert put("A *black dog* ran.", "Ran a dog black.", [(0, 1), (1, 3), (2, 2), (3, 0)]) == (
        "Ran a *dog black*."
    )


def test_alone_words_near_the_diagonal_and_equal_ones_belong_together():
    assert put("the *old* house", "la vieille maison") == "la *vieille* maison"
    assert put("we met *Ann* at home yesterday", "Ann war gestern da") == "*Ann* war gestern da"
    assert put("*Note:* read it.", "*Hinweis*: lies es.".replace("*", "")) == "*Hinweis:* lies es."


def test_a_span_takes_as_many_marks_as_its_source_has():
    """The full stop and the bracket behind a quotation in a link are not drawn into the link."""
    source, target = "Call it (once “the best dog”).", 'Chame (antes "o melhor cão").'
    begin, end = source.index("“"), source.index("”") + 1
    weights = np.eye(6)[[0, 2, 3, 4, 5]]  # Of "Chame", "antes", "o", "melhor", "cão".
    pair = SentencePair(source, target, weights)
    start, stop = WordPlaces(source, target, [pair]).span(begin, end)
    assert target[start:stop] == '"o melhor cão"'


def test_a_copied_placeholder_stays_where_the_answer_has_it():
    assert put("{n} files in *{dir}*", "en {dir} hay {n} archivos") == (
        "en *{dir}* hay {n} archivos"
    )


def test_a_placeholder_that_was_lost_gets_its_spaces_and_no_more():
    assert put("Hi {name}, come in!", "Hallo, komm!", with_shown=False) == "Hallo {name}, komm!"
    assert put("Open {file} now", "Jetzt öffnen", with_shown=False) == "Jetzt {file} öffnen"
    assert put("{a}{b} end", "Ende", with_shown=False) == "{a}{b} Ende"


@given(st.integers(201, 700), st.integers(1, 700))
@example(201, 202)  # 201 * (202 / 201) is more than 202 in floats.
def test_a_mark_in_a_sentence_that_is_too_long_to_align_has_its_share(sources, targets):
    source, target = "w " * sources, "v " * targets  # No word of one is in the other.
    places = WordPlaces(source, target, [])
    ends = [places.span(2 * word, 2 * word + 1) for word in range(sources)]
    assert ends[0][0] == 0 and ends[-1][1] == len(target.rstrip())
    assert ends == sorted(ends)
    assert all(start < end for start, end in ends)
