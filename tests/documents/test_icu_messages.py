"""Plurals in ICU's syntax: their forms are translated, and their syntax stays."""

import json
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given

from documents.test_round_trips import translated

WORDS = st.sampled_from(["dog", "the cat", "it's", "# files", "{name} is here", "", " x "])
FORMS = st.lists(st.tuples(st.sampled_from(["one", "other", "=0", "few"]), WORDS), min_size=1)
MESSAGES = st.tuples(st.sampled_from(["plural", "selectordinal", "select"]), FORMS)


def message(kind, forms):
    return f"{{n, {kind}, {' '.join(f'{name} {{{text}}}' for name, text in forms)}}}"


def upper_words(texts):
    """Upper case for words, not for placeholders."""
    return [
        " ".join(word if "{" in word else word.upper() for word in text.split(" "))
        for text in texts
    ]


@given(MESSAGES, st.sampled_from(["", "You have "]), st.sampled_from(["", " left."]))
def test_each_form_is_translated_and_the_syntax_stays(tmp_path_factory, parts, before, after):
    kind, forms = parts
    folder = tmp_path_factory.getbasetemp()
    text = json.dumps({"key": before + message(kind, forms) + after})
    assert translated(folder, "a.json", text)[0] == text.encode()
    output = json.loads(translated(folder, "a.json", text, upper_words)[0])["key"]
    translations = upper_words(form for _, form in forms)
    names = (name for name, _ in forms)
    expected = message(kind, [*zip(names, translations, strict=True)])
    expected = expected.replace("it's".upper(), "IT'S")
    assert output == before.upper() + expected + after.upper()


@pytest.mark.parametrize("broken", ["{n, plural, one {a}", "{n, plural, one}", "{n, plural,}"])
def test_a_broken_message_stays(tmp_path, broken):
    text = json.dumps([broken])
    assert translated(tmp_path, "a.json", text, lambda texts: [*texts])[0] == text.encode()


def test_an_apostrophe_never_begins_a_quotation(tmp_path):
    text = json.dumps(["{n, plural, other {the {name}}}", "{n, plural, other {it''s}}"])
    answers = {"the {name}": "l'{name}", "it's": "c'est l'x"}
    output = translated(tmp_path, "a.json", text, lambda texts: [answers[text] for text in texts])
    assert json.loads(output[0]) == [
        "{n, plural, other {l''{name}}}",
        "{n, plural, other {c''est l''x}}",
    ]


def test_a_form_with_quoted_braces_stays_and_is_reported(tmp_path):
    text = json.dumps(["{n, plural, other {a '{'b'}' c}}"])
    output, report = translated(tmp_path, "a.json", text, upper_words)
    assert output == text.encode()
    assert [text.reason for text in report.unplaced] == ["it has a quotation of ICU, '{"]


@pytest.mark.parametrize(
    ("source", "answer", "expected"),
    [
        ("Run 2.5 km.", "Laufe 2,5 km.", "Laufe 2,5 km."),
        ("It is 50% off.", "Es ist 50 % billiger.", "Es ist 50 % billiger."),
        ("Open it.", "Öffne {name} es.", "Öffne es."),
        ("Open {a}.", "Öffne {a} %s.", "Öffne {a}."),
    ],
)
def test_marks_of_numbers_may_change_and_no_placeholder_is_added(
    tmp_path, source, answer, expected
):
    def translate(texts):
        return [answer if text == source else answer.replace("{a} ", "") for text in texts]

    output = translated(tmp_path, "a.json", json.dumps([source]), translate)[0]
    assert json.loads(output) == [expected]


def test_a_number_that_is_lost_comes_back(tmp_path):
    output = translated(
        tmp_path, "a.txt", "Run 5 km now.", lambda texts: ["Lauf jetzt."] * len(texts)
    )
    assert output[0].count(b"5 km") == 1


ANGULAR = """<xliff version="1.2"><file source-language="en" datatype="x" original="a"><body>
<trans-unit id="1"><source>{VAR_PLURAL, plural, =0 {just now} other {about <x id="I"/> \
<g id="b">minutes ago</g>}}</source></trans-unit></body></file></xliff>"""


def test_a_form_has_the_elements_that_are_inside_it(tmp_path):
    text = ANGULAR.replace("\\\n", "")
    output, report = translated(tmp_path, "a.xlf", text, lambda texts: [*map(str.upper, texts)])
    assert report.segments == 2 and not report.unplaced
    [target] = ElementTree.fromstring(output).iter("target")
    assert "".join(target.itertext()) == (
        "{VAR_PLURAL, plural, =0 {JUST NOW} other {ABOUT  MINUTES AGO}}"
    )
    assert [child.tag for child in target] == ["x", "g"]
    assert target[1].text.strip() == "MINUTES AGO"
    same, _ = translated(tmp_path, "b.xlf", text)
    [target] = ElementTree.fromstring(same).iter("target")
    assert "".join(target.itertext()) == (
        "{VAR_PLURAL, plural, =0 {just now} other {about  minutes ago}}"
    )


def test_a_form_with_an_element_that_fails_stays_as_it_was(tmp_path):
    text = (
        "<resources><string name='a'>{n, plural, one {it\\'s <xliff:g "
        "xmlns:xliff='urn:oasis:names:tc:xliff:document:1.2'>%d</xliff:g> dog} "
        "other {dogs}}</string></resources>"
    )
    output, report = translated(tmp_path, "a.xml", text, lambda texts: [""] * len(texts))
    assert output.decode() == text
    assert [text.text for text in report.unplaced] == ["it's %d dog", "dogs"]
    output = translated(tmp_path, "a.xml", text, lambda texts: [text.upper() for text in texts])[0]
    expected = text.replace("dog", "DOG").replace("DOGs", "DOGS").replace("it\\'s", "IT\\'S")
    assert output.decode().replace("%D", "%d") == expected
