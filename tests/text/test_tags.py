"""Labels of words: their spans, their scores, and the words that taggers read."""

import itertools

import pytest

from kformer.text.label_scores import spans_of, tag_scores
from kformer.text.labels import tagger_text, tagging
from kformer.text.normalization import normalizer

LABELS = ("O", "B-X", "I-X", "B-Y", "I-Y", "Z")


def spans_by_definition(labels):
    """Every stretch of words that is one span, found by trying each start and end."""

    def name(label):
        return label[2:] if label[:2] in ("B-", "I-") else None

    def continues(i):
        return labels[i].startswith("I-") and name(labels[i]) == name(labels[i - 1])

    return {
        (name(labels[start]) or labels[start], start, end)
        for start, end in itertools.combinations(range(len(labels) + 1), 2)
        if labels[start] != "O"
        and (start == 0 or not continues(start))
        and all(continues(i) for i in range(start + 1, end))
        and (end == len(labels) or not continues(end))
    }


@pytest.mark.parametrize("length", range(5))
def test_spans_are_those_of_the_definition(length):
    for labels in itertools.product(LABELS, repeat=length):
        assert spans_of(labels) == spans_by_definition(labels)


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
