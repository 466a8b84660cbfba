"""Names such as "X1" stand for placeholders where a model translates, which copies names."""

import re

import pytest

import kformer
from kformer.documents.placement import TakenText
from kformer.documents.segments import Code
from kformer.inference.engine import Engine
from kformer.inference.facts import ModelFacts
from kformer.inference.results import Translation

NAME = re.compile(r"[A-Z]\d+")


class Model(kformer.AnyTranslator):
    """Writes words in small letters and in reverse order, but for words that it copies.

    Args:
        copies: Pattern of the words that it copies; other ones with a brace, or like names, vanish.
    """

    def __init__(self, copies):
        self.asked = []
        self.engine = Engine()
        self.engine.facts = ModelFacts(about={"source_language": "en"}, target_language="xx")
        self.engine.search = self.search
        self.copies = re.compile(copies)

    def search(self, texts, request):
        self.asked += texts
        return [[Translation(self.translated(text), 0.0)] for text in texts]

    def translated(self, text):
        words = [
            word.lower() if word.isalpha() and not self.copies.fullmatch(word) else word
            for word in reversed(text.strip(".").split())
            if self.copies.fullmatch(word) or word.isalpha()
        ]
        return " ".join(words) + "." * text.endswith(".")


def translated(model, text):
    [(output, report)] = kformer.translate_markup([text], model, kind="text")
    assert not report.unplaced
    return output


def test_a_model_reads_names_and_the_document_has_the_placeholders():
    model = Model(NAME.pattern)
    assert translated(model, "Open {file} with %s.") == "%s with {file} open."
    assert model.asked == ["Open X1 with X2."]


def test_a_text_with_such_names_gets_others():
    model = Model(NAME.pattern)
    assert translated(model, "Open X1 with {file}.") == "{file} with X1 open."
    assert model.asked == ["Open X1 with Y1."]


def test_a_model_that_copies_placeholders_alone_gets_these():
    model = Model(r"\{\w+\}")
    assert translated(model, "Open {file} now.") == "Now {file} open."
    assert model.asked[-1] == "Open {file} now."


def test_what_is_lost_alone_is_left_out():
    model = Model("X1")
    output = translated(model, "Open {a} with {b} now.")
    assert model.asked == ["Open X1 with X2 now.", "Open {a} with {b} now.", "Open X1 with now."]
    assert sorted(re.findall(r"\{\w\}", output)) == ["{a}", "{b}"]
    assert output.startswith("Now")


def test_a_function_gets_the_text_as_it_is():
    asked = []

    def function(texts):
        asked.extend(texts)
        return [text.upper() for text in texts]

    kformer.translate_markup(["open {file}"], function, kind="text")
    assert asked[0] == "open {file}"


def test_names_are_never_taken_for_longer_ones():
    parts = [part for number in range(12) for part in ("a ", Code((f"{{{number}}}",), shown="{x}"))]
    taken = TakenText(parts).named([f"X{number}" for number in range(1, 13)])
    reverse = " ".join(f"X{number}" for number in range(12, 0, -1))
    copies = taken.copies(reverse)
    assert [reverse[slice(*copies[number])] for number in range(12)] == [
        f"X{number}" for number in range(1, 13)
    ]
    assert taken.lost(reverse.replace("X1 ", "").removesuffix("X1")) == [0]
    assert taken.written(reverse) == " ".join(["{x}"] * 12)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("API Key", "Key api"),  # The model writes "key api".
        ("key API", "api key"),
        ("Open iPhone", "iPhone open"),
        ("Pip Install", "Install pip"),
    ],
)
def test_a_capital_at_the_beginning_stays(source, expected):
    assert translated(Model("iPhone"), source) == expected
