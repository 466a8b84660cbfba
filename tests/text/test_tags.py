"""Labels of words: their spans, their scores, and the words that taggers read."""

import itertools

import pytest

from kformer.text.label_scores import SpanScheme, strict_tag_scores, tag_scores
from kformer.text.labels import tagger_text, tagging
from kformer.text.normalization import normalizer

SETS = {  # Labels, and which of their letters stands for which of IOBES.
    "IOB": ("O B-X I-X B-Y I-Y", {}),
    "IOBES": ("O B-X I-X E-X S-X I-Y E-Y", {}),
    "BILOU": ("O B-X I-X L-X U-X I-Y", {"L": "E", "U": "S"}),
    "BMES": ("B-X M-X E-X S-X M-Y", {"M": "I"}),
    "with underscores": ("O B_X I_X B_Y I_Y", {}),
}


def parts_of(label, letters):
    """The letter of a label with a prefix, and its type."""
    letter, name = label[0], label[2:]
    return letters.get(letter, letter), name


def is_end(before, after):
    """The rules of conlleval for the end of a span between two words, with E and S."""
    (tag, name), (next_tag, next_name) = before, after
    return (
        tag in ("E", "S")
        or (tag in ("B", "I") and next_tag in ("B", "S", "O"))
        or (tag != "O" and name != next_name)
    )


def is_start(before, after):
    """Its rules for the start of a span."""
    (tag, name), (next_tag, next_name) = before, after
    return (
        next_tag in ("B", "S")
        or (tag in ("E", "S", "O") and next_tag in ("E", "I"))
        or (next_tag != "O" and name != next_name)
    )


def spans_by_conlleval(labels, letters=()):
    """The spans, word by word."""
    spans, start, before = set(), None, ("O", "")
    for i, label in enumerate([*labels, "O"]):
        after = parts_of(label, dict(letters))
        if start is not None and is_end(before, after):
            spans.add((before[1], start, i))
            start = None
        if is_start(before, after):
            start = i
        before = after
    return spans


@pytest.mark.parametrize("name", SETS)
def test_spans_are_those_of_conlleval_however_labels_name_them(name):
    labels, letters = SETS[name]
    labels = labels.split()
    turned = {label: "-".join(label.split("-")[::-1]) for label in labels}  # "X-B"
    scheme, of_suffixes = SpanScheme.of([labels]), SpanScheme.of([turned.values()])
    for length in range(5):
        for text in itertools.product(labels, repeat=length):
            expected = spans_by_conlleval(text, letters)
            assert scheme.spans(text) == expected
            if "_" not in name:
                assert of_suffixes.spans([turned[label] for label in text]) == expected


def test_labels_that_are_a_letter_are_spans_without_a_type():
    scheme = SpanScheme.of(["OBIES"])
    for text in itertools.product("OBIES", repeat=4):
        expected = spans_by_conlleval([f"{letter}-" for letter in text])
        assert scheme.spans(text) == expected


def test_words_with_other_labels_are_spans_by_themselves():
    scheme = SpanScheme.of([["O", "B-X", "I-X", "NOUN", "B", ""]])
    labels = ["NOUN", "NOUN", "", "B-X", "I-X", "NOUN", "I-X", "B", "O"]
    spans = {("NOUN", 0, 1), ("NOUN", 1, 2), ("X", 3, 5), ("NOUN", 5, 6), ("X", 6, 7), ("B", 7, 8)}
    assert scheme.spans(labels) == spans
    assert strict_tag_scores([labels], [labels]) is None


# True and predicted labels, F1 by seqeval 1.2.2, and F1 by its strict mode. For BILOU, which only
# its strict mode reads, the first is of IOBES.
BY_SEQEVAL = [
    ("B-X I-X O B-Y I-Y", "B-X I-X O I-Y I-Y", 1.0, 0.6667),
    ("B-X I-X I-X O B-X B-Y", "B-X O I-X O B-X I-Y", 0.5714, 0.4),
    ("I-X I-X B-X O I-Y", "I-X B-X I-X O I-Y", 0.3333, None),
    ("B-X I-X E-X O S-Y S-X", "B-X I-X I-X O S-Y S-X", 1.0, 0.8),
    ("B-X E-X O S-Y B-Y E-Y", "I-X E-X O S-Y B-Y E-X", 0.5714, 0.5),
    ("B-X I-X L-X O U-Y U-X", "B-X L-X L-X O U-Y U-X", 0.5714, 0.6667),
    ("B-X L-X O U-Y B-Y L-Y", "I-X L-X O U-Y B-Y L-Y", 1.0, 0.8),
    ("B I O B I I", "B I O I I I", 1.0, 0.6667),
    ("B E S O B I E", "B E B O B I E", 1.0, 0.8),
    ("X-B X-I O Y-B Y-I", "X-B X-I O Y-I X-I", 0.4, 0.6667),
]


@pytest.mark.parametrize(("expected", "predicted", "f1", "strict"), BY_SEQEVAL)
def test_scores_are_those_of_seqeval(expected, predicted, f1, strict):
    texts = [expected.split()], [predicted.split()]
    assert tag_scores(*texts).f1 == pytest.approx(f1, abs=5e-5)
    scores = strict_tag_scores(*texts)
    assert (scores and scores.f1) == (strict and pytest.approx(strict, abs=5e-5))


def test_scores_count_spans_with_the_same_type_and_the_same_words():
    expected = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"]]
    predicted = [["B-X", "O", "O", "B-Y"], ["B-X", "B-X"]]
    scores = tag_scores(expected, predicted)
    assert scores == (6, 4, 3, 4, 2)
    assert (scores.accuracy, scores.precision, scores.recall) == (4 / 6, 2 / 4, 2 / 3)
    assert scores.f1 == pytest.approx(2 / (1 / scores.precision + 1 / scores.recall))
    assert tag_scores(expected, expected).f1 == 1
    assert tag_scores([["O"]], [["O"]]).f1 == 0


def test_every_word_needs_both_labels():
    with pytest.raises(ValueError, match="Received: 2 true and 1 predicted labels, in 1 and 1"):
        tag_scores([["O", "O"]], [["O"]])
    with pytest.raises(ValueError, match="Received: 0 true"):
        tag_scores([[]], [[]])


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc"])
def test_each_word_is_one_word_after_normalization(rule):
    words = ["don\u00b4t", "\u00a8", "\ufe0f", "\u3164", "a\ufffdb", "\u2581", "x\u2581y", "\u200b"]
    text = " ".join(words)
    assert len(normalizer(rule).normalize(tagger_text(text)).split(" ")) == len(words)
    assert tagger_text(" Grüße  nach\tKöln ") == "Grüße nach Köln"


def test_words_that_were_not_read_have_no_label():
    assert tagging("a b  c", ["O", "B-X"], [0.5, 0.75]) == (
        ["a", "b", "c"],
        ["O", "B-X", ""],
        [0.5, 0.75, 0.0],
    )
