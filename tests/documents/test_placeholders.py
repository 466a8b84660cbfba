"""Placeholders of each kind are recognized, and percent signs of prose are not."""

import re
import time

import hypothesis.strategies as st
import pytest
from hypothesis import given

from documents.test_round_trips import translated
from kformer.documents.asking import PlainTranslator
from kformer.documents.document_translation import translate_markup
from kformer.documents.placeholders import (
    KINDS,
    SYNTAXES,
    keep_pattern,
    syntax_pattern,
    with_placeholders,
)
from kformer.documents.segments import Code, Role, partners
from kformer.inference.facts import ModelFacts
from kformer.inference.source_marks import ABOUT, PLACEHOLDER_SYMBOLS


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("brace", "{name} {0} {n, plural, one {# file} other {# files}}"),
        ("double-brace", "{{ user.name }}"),
        ("template", "${x} %{count} #{y} {% if x % 2 %} {# 50 % # #}"),
        ("printf", "%s %1$d %@ %(name)s %-5.2f %% %dKB %lld %#@files@"),
        ("nesting", "$t(common.ok)"),
        ("url", "https://example.org/a?b=c&d=e/ www.example.org/x"),
        ("email", "ann.b+c@mail.example.org"),
        ("tag", "<br/> </b> <a href='x'> &nbsp; &#8212;"),
        ("quantity", "5 km/h 2.5\u00a0kg 50% 1,000 € $9.99 20 °C 3 GB £2.8bn 1 500 m US$ 1"),
        ("mention", "#1234 @anna_b #MeToo"),
        ("emoji", "😀 👩‍🚀 →"),
    ],
)
def test_each_kind_is_recognized_by_its_pattern_and_among_all(kind, text):
    assert re.sub(r"(?:KB)?\s*", "", keep_pattern([kind]).sub("", text)) == ""
    assert re.sub(r"(?:KB)?\s*", "", keep_pattern().sub("", text)) == ""


@pytest.mark.parametrize(
    ("syntax", "text", "expected"),
    [
        ("", "%name% %user %s%s %dKB", "[%name%] [%user] [%s][%s] [%dKB]"),
        ("", "5 %complete 20 %done 100% Safe 50%off", "5 %complete 20 %done [100%] Safe 50%off"),
        ("", "%1 of %L2, %1$s, %1.2f", "[%1] of [%L2], [%1$s], [%1.2f]"),
        ("", "%<n>s of %{n} <%= x < y %> @{x}", "[%<n>s] of [%{n}] [<%= x < y %>] [@{x}]"),
        ("", "costs $5 to $6, $USER$", "costs [$5] to [$6], [$USER$]"),
        ("", "see :name :ref:`x` ``a b``", "see :name [:ref:`x`] [``a b``]"),
        ("", "%APPDATA% %Y-%m [[a]] __b__", "[%APPDATA%] [%Y]-[%m] [[[a]]] [__b__]"),
        ("strings", "Hi :name, 5:30 a:b x: y", "Hi [:name], 5:30 a:b x: y"),
        ("printf", "%dKB %name% 50%d", "[%d]KB [%n]ame% 50[%d]"),
        ("qt", "%n file in %L1 of %11 5%", "[%n] file in [%L1] of [%11] [5%]"),
        ("none", "%d %s {x}", "%d %s [{x}]"),
        ("brace", "%d {x:>5}", "%d [{x:>5}]"),
        ("drupal", "%user @count :url !name a@b", "[%user] [@count] [:url] [!name] a@b"),
        ("chrome", "$USER$ $1 $$ %s", "[$USER$] [$1] [$$] %s"),
        ("printf", "%<PRIx32> %'d (%S) %.*s", "[%<PRIx32>] [%'d] ([%S]) [%.*s]"),
        ("", "run `a b` or `'x' y", "run [`a b`] or `'x' y"),
        ("", "``['' => 0]`` of ``a'' or ``b''", "[``['' => 0]``] of ``a'' or ``b''"),
        ("", "so ```toml\na = `b`\n``` is", "so [```toml\na = `b`\n```] is"),
        ("", "of <type> <object> <b>mode</b>, %d", "of [<type>] [<object>] [<b>]mode[</b>], [%d]"),
        ("lisp", "~a ~5,2f ~%", "[~a] [~5,2f] [~%]"),
    ],
)
def test_a_text_has_the_placeholders_of_its_syntax(syntax, text, expected):
    assert shape(with_placeholders([text], keep_pattern(None, syntax))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Go to <0>page</0><1/>", [("<0>", "OPEN"), ("</0>", "CLOSE"), ("<1/>", "ALONE")]),
        (
            "&lt;b class='x'&gt;a&lt;/b&gt;",
            [("&lt;b class='x'&gt;", "OPEN"), ("&lt;/b&gt;", "CLOSE")],
        ),
        ("A :doc:`title <x>` b", [(":doc:`", "OPEN"), (" <x>`", "CLOSE")]),
        ("A `title <http://x.y>`_ b", [("`", "OPEN"), (" <http://x.y>`_", "CLOSE")]),
    ],
)
def test_markup_in_a_text_has_spans(text, expected):
    parts = with_placeholders([text], keep_pattern())
    codes = [part for part in parts if isinstance(part, Code)]
    assert [(code.raw, code.role.name) for code in codes] == expected
    assert partners(parts)[1]


@pytest.mark.parametrize("mark", ["<br>", "<BR />", "&lt;br/&gt;", "&nbsp;", "&#xA0;"])
def test_a_break_is_read_as_a_space(mark):
    parts = with_placeholders([f"door{mark}close"], keep_pattern())
    assert "".join(part if isinstance(part, str) else part.shown for part in parts) == "door close"


@pytest.mark.parametrize("text", ["5 %complete", "20 %done now", "100% Safe", "50 %Discount"])
def test_a_percent_sign_of_prose_costs_no_text(text):
    [(output, _)] = translate_markup([text], reversed_words, kind="text")
    assert output == " ".join(reversed(text.split()))


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_kept_placeholder_is_in_the_translation_once(syntax):
    text = "a %d b %n c %1 d {x} e $A$ f :g h @i j ~a k"
    parts = with_placeholders([text], keep_pattern(None, syntax))
    assert "".join(part if isinstance(part, str) else part.raw for part in parts) == text


@pytest.mark.parametrize(
    "text",
    ["100%ig", "50 %dig", "see:below :)", "a < b", "x@y", "R&D", "5 dogs", "a: b", "in 2024"],
)
def test_prose_has_no_placeholders(text):
    assert with_placeholders([text], keep_pattern()) == (text,)


def test_a_regular_expression_of_the_user_is_kept():
    number = r"[A-Z]{2}-\d+"
    text = "Part AB-12 of {x} at https://a.org"
    for keep, expected in (
        ([number], "Part [AB-12] of [{x}] at [https://a.org]"),
        ([number, "url"], "Part [AB-12] of {x} at [https://a.org]"),
        (["url"], "Part AB-12 of {x} at [https://a.org]"),
        ([], text),
    ):
        assert shape(with_placeholders([text], keep_pattern(keep))) == expected
        assert syntax_pattern(keep).findall(text) == ["{x}"] * (keep == [number])


def test_a_name_near_that_of_a_kind_is_refused():
    with pytest.raises(ValueError, match=r"Received: keep='urls'; the kind is 'url', .*\?:urls"):
        keep_pattern(["urls"])
    assert keep_pattern(["(?:urls)", "Acme"]).findall("urls of Acme") == ["urls", "Acme"]


def test_a_malformed_expression_is_refused():
    with pytest.raises(ValueError, match=r"names of tag, .*Received: keep='\(' \(missing"):
        keep_pattern(["("])
    with pytest.raises(ValueError, match="which matches an empty text"):
        keep_pattern(["a*"])
    with pytest.raises(TypeError, match="list of strings"):
        keep_pattern("url")


HOSTILE = ["{", "<a ", "<!--", "$t(", "{{", "www.-", "a@", "a.", "%(", "http://", "&a", "🏻", "%1"]


@pytest.mark.parametrize("part", HOSTILE)
def test_long_texts_take_linear_time(part):
    begun = time.process_time()
    with_placeholders([part * (40_000 // len(part))], keep_pattern())
    assert time.process_time() - begun < 2  # Quadratic time would be minutes.
    assert KINDS


class Copier:
    """Translates by capitals, and copies all characters without letters if it `copies`."""

    def __init__(self, copies):
        self.copies, self.asked = copies, []

    def translate(self, texts):
        self.asked += texts
        return [text.upper() if self.copies else re.sub(r"[{}]", "", text) for text in texts]


def test_a_translator_that_copies_nothing_is_not_asked_again_and_again():
    texts = [f"Word {number}x is {{name}} here" for number in range(60)]
    hopeless = Copier(copies=False)
    results = translate_markup(texts, hopeless, kind="text")
    assert all(text.count("{name}") == 1 for text, _ in results)
    assert sum("{" in text for text in hopeless.asked) == 16
    assert len(hopeless.asked) == 16 + 60
    assert sum(report.distinct for _, report in results[:1]) == 60


def test_a_model_that_was_trained_with_placeholders_reads_symbols():
    texts = ["a {one} b {two} {one} c", "just 5 km {x}", "plain"]
    copier = Copier(copies=True)
    model = PlainTranslator(copier)
    model.facts = ModelFacts(about={ABOUT: ["placeholders"]})
    results = [text for text, _ in translate_markup(texts, model, kind="text")]
    assert results[0] == "A {one} B {two} {one} C" and results[2] == "PLAIN"
    assert results[1].count("{x}") == 1
    first, second, third = PLACEHOLDER_SYMBOLS[:3]
    assert copier.asked[:3] == ["plain", f"a {first} b {second} {third} c", f"just 5 km {first}"]


def test_such_a_model_adds_no_placeholder_of_a_program_either():
    def inventing(texts):
        return [f"{text.upper()} {{name}}" for text in texts]

    model = PlainTranslator(inventing)
    model.facts = ModelFacts(about={ABOUT: ["placeholders"]})
    [(text, _)] = translate_markup(["open {file} now"], model, kind="text")
    assert text.count("{file}") == 1 and "{name}" not in text


CODES = {
    "(": Code(("<b>",), Role.OPEN, "b"),
    ")": Code(("</b>",), Role.CLOSE, "b"),
    "|": Code(("|",)),
}
TORN = re.compile(r"\{\{ \w+ \}\}|%s|https://example\.org")
TEXT_WITH_PLACEHOLDERS = "Dear {{ name }}, see %s at https://example.org today"


def torn(text):
    """Parts for a text with `(` and `)` around spans, and `|` between runs."""
    return [CODES.get(part, part) for part in re.split(r"([(|)])", text) if part]


def flat(parts):
    """Yields the texts and the codes of parts, those inside placeholders, too."""
    for part in parts:
        if isinstance(part, Code) and part.is_text:
            yield from flat(part.pieces)
        else:
            yield part


def shape(parts):
    """The parts with `[` and `]` around placeholders."""
    return "".join(
        part if isinstance(part, str) else f"[{part.raw}]" if part.is_text else part.raw
        for part in parts
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi {{ na|me }}!", "Hi [{{ na|me }}]!"),
        ("Hi |{{ name |}}!", "Hi |[{{ name |}}]!"),
        ("Hi {{(na)me}}!", "Hi [{{<b>na</b>me}}]!"),
        ("{{(name}} is) here", "<b>[{{name}}] is</b> here"),
        ("(Hi {{n)ame}}!", "<b>Hi </b>[{{name}}]!"),
        ("See https://exa(mple.org) now", "See [https://exa<b>mple.org</b>] now"),
        ("It is 5 |km far", "It is 5 |km far"),
        ("a (%|d) b", "a <b>[%|d]</b> b"),
        ("{a}({b}){c}", "[{a}]<b>[{b}]</b>[{c}]"),
        ("{(a}{)b}|{c}", "<b>[{a}]</b>[{b}]|[{c}]"),
        ("({)a}{b(})", "[<b>{</b>a}][{b<b>}</b>]"),
    ],
)
def test_a_placeholder_may_span_codes(text, expected):
    assert shape(with_placeholders(torn(text), keep_pattern())) == expected


def test_an_address_ends_where_its_link_does():
    link = [Code(("<a>",), Role.OPEN, "a"), "https://a.org", Code(("</a>",), Role.CLOSE, "a")]
    parts = with_placeholders([*link, "(page)"], keep_pattern())
    assert shape(parts) == "<a>[https://a.org]</a>(page)"


@st.composite
def torn_texts(draw):
    """A text with well nested spans and lone codes at any places of it."""
    places = st.integers(0, len(TEXT_WITH_PLACEHOLDERS))
    marks = [(place, "|") for place in draw(st.lists(places, max_size=4))]
    spans = draw(st.lists(places, max_size=6).map(lambda ends: sorted(ends)))
    if len(spans) % 2 == 0:
        marks += zip(spans, "()" * (len(spans) // 2), strict=True)
    text = TEXT_WITH_PLACEHOLDERS
    for place, mark in sorted(marks, key=lambda mark: -mark[0]):
        text = text[:place] + mark + text[place:]
    return text


@given(torn_texts())
def test_codes_within_placeholders_lose_nothing_and_stay_nested(text):
    parts = torn(text)
    _, is_nested = partners(parts)
    result = with_placeholders(parts, keep_pattern())
    everything = [*flat(result)]
    assert "".join(part for part in everything if isinstance(part, str)) == TEXT_WITH_PLACEHOLDERS
    codes = [part for part in parts if not isinstance(part, str)]
    written = [part for part in everything if not isinstance(part, str)]
    ends = [part for part in codes if part.role is not Role.ALONE]
    assert [part for part in written if part.role is not Role.ALONE] == ends
    assert len(written) == len(codes)
    assert partners(result)[1] or not is_nested
    kept = [part.shown for part in result if isinstance(part, Code) and part.is_text]
    assert kept == TORN.findall(TEXT_WITH_PLACEHOLDERS)


def reversed_words(texts):
    """A translation whose words are in reverse order."""
    return [" ".join(reversed(re.findall(r"\{\{[^{}]*\}\}|\S+", text))) for text in texts]


def test_a_torn_placeholder_is_whole_in_a_translated_page(tmp_path):
    page = "<p>Dear {{ <i>user</i>.na<wbr>me }} of {{<b>city}} in</b> Spain</p>"
    output = translated(tmp_path, "a.html", page, reversed_words)[0].decode()
    assert "{{ <i>user</i>.na<wbr>me }}" in output and "{{city}}" in output
    assert re.sub("<[^<>]*>", "", output) == "Spain in {{city}} of {{ user.name }} Dear"
    assert translated(tmp_path, "a.html", page)[0].decode() == page


def test_many_codes_within_a_placeholder_take_linear_time():
    def parts(number):
        return ["{", *[CODES["("], "a", CODES["|"]] * number, "}"] * 2

    begun = time.process_time()
    with_placeholders(parts(10_000), keep_pattern())
    assert time.process_time() - begun < 2  # Quadratic time would be minutes.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open the door<br>Close the window", "window the Close door<br>the Open"),
        ("Price:&nbsp;high", "high&nbsp;Price:"),
        ("door<br>close", "close<br>door"),
        ("a <br> b c", "c <br> b a"),
        ("a<br> b c", "c<br> b a"),
        ("one<br/><br/>two three", "three<br/><br/>two one"),
        ("a<br/>{x}<br/>b", "b<br/>{x}<br/>a"),
        ("<br>a b<br/>", "<br>b a<br/>"),
    ],
)
def test_a_break_takes_the_place_of_a_space(text, expected):
    [(output, report)] = translate_markup([text], reversed_words, kind="text")
    assert (output, report.unplaced) == (expected, ())
    [(output, _)] = translate_markup([text], lambda texts: [*map(str.title, texts)], kind="text")
    assert output.lower() == text.lower()


WORDS_AND_BREAKS = st.lists(
    st.tuples(st.sampled_from(["one", "two", "tree,"]), st.sampled_from(["<br>", " ", "&nbsp;"])),
    min_size=2,
    max_size=8,
)


@given(WORDS_AND_BREAKS, st.randoms())
def test_breaks_glue_no_words_and_none_is_lost(words, random):
    def shuffled(texts):
        return [" ".join(random.sample(text.split(), len(text.split()))) for text in texts]

    text = "".join(f"{word}{mark}" for word, mark in words) + "end"
    [(output, _)] = translate_markup([text], shuffled, kind="text")
    breaks = re.compile("<br>|&nbsp;")
    assert sorted(breaks.findall(output)) == sorted(breaks.findall(text))
    assert sorted(breaks.sub(" ", output).split()) == sorted(breaks.sub(" ", text).split())


def test_a_placeholder_is_not_sought_within_a_longer_one():
    text = "at https://a.org or https://a.org/b, 100%% or %s, {a} or {a}{a}"
    [(output, report)] = translate_markup([text], reversed_words, kind="text")
    assert output == "{a}{a} or {a} %s, or 100%% https://a.org/b, or https://a.org at"
    assert not report.unplaced


def test_a_placeholder_that_was_lost_stays_before_its_suffix():
    def without(texts):
        return [text.replace("%2$s", "").replace("  ", " ").upper() for text in texts]

    [(output, _)] = translate_markup(["include the %2$s.csv file"], without, kind="text")
    assert output == "INCLUDE THE %2$s.CSV FILE"
