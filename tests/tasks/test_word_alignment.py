"""Aligning words by the attention of a translator."""

import numpy as np
import pytest

import kformer
from kformer import AlignmentHead
from kformer.text.alignment import align_words, read_gold
from support import toy

SOURCES, TARGETS = toy.SOURCES[:9], toy.TARGETS[:9]


def attention_of(translator, source, target):
    """The attention of each layer and head, (L, H, T, S), by `attend`, which a decoder has."""
    maps = translator.attend(source, target)
    weights = np.stack([np.asarray(layer)[0] for layer in maps.attention.decoder_cross])
    return weights[:, :, :-1, :-1], maps.source[:-1], maps.target[1:]


@pytest.mark.sample(2)
@pytest.mark.parametrize("head", [None, AlignmentHead(1, 2)])
def test_the_chosen_head_aligns(toy_translator, head):
    found = toy_translator.align([*SOURCES, "wir"], [*TARGETS, "we see"], head=head)
    compared = 0
    for source, target, one in zip(SOURCES, TARGETS, found, strict=False):
        weights, *pieces = attention_of(toy_translator, source, target)
        of_layer = weights[(head or (1, None))[0] - 1]
        number = (head or (1, None))[1]
        expected = of_layer.mean(axis=0) if number is None else of_layer[number - 1]
        assert one.links == align_words(expected, *pieces).links
        assert one.source == tuple(source.split()) and one.target == tuple(target.split())
        compared += 1
    assert compared == 9
    assert found[-1].links == [(0, 0), (0, 1)]


@pytest.mark.prove
def test_blank_texts_have_no_links(toy_translator):
    found = toy_translator.align(["", "wir", ""], ["we", "", ""])
    assert [one.links for one in found] == [[], [], []]


@pytest.mark.prove
def test_translations_have_the_links_of_the_chosen_head(toy_translator):
    translator = toy_translator.copy()
    for head in (None, AlignmentHead(1, 2)):
        translator.alignment_head = head
        found = [one for [one] in translator.translations(SOURCES)]
        aligned = translator.align(SOURCES, [one.text for one in found])
        assert [one.word_alignment for one in found] == [one.links for one in aligned]
    [[plain]] = translator.translations(SOURCES[:1], details=False)
    assert plain.word_alignment is None


@pytest.mark.prove
def test_the_head_of_the_lowest_error_rate_is_chosen_and_saved(toy_translator, tmp_path):
    translator = toy_translator.copy()
    target = AlignmentHead(1, 2)
    gold = read_gold(map(str, translator.align(SOURCES, TARGETS, head=target)), "gold")
    scores = translator.choose_alignment_head(SOURCES, TARGETS, gold)
    assert scores[0] == (target, scores[0].agreement, 0.0)
    assert len(scores) == 3  # One layer: its two heads, and their mean.
    assert [one.error_rate for one in scores] == sorted(one.error_rate for one in scores)
    assert translator.alignment_head == target
    translator.save(tmp_path / "a.keras")
    loaded = kformer.load(tmp_path / "a.keras")
    assert loaded.alignment_head == target and loaded.copy().alignment_head == target


@pytest.mark.prove
def test_without_links_by_hand_the_head_of_the_highest_agreement_is_chosen(toy_translator):
    translator = toy_translator.copy()
    scores = translator.choose_alignment_head(SOURCES, TARGETS)
    for one in scores:
        found = translator.align(SOURCES, TARGETS, head=one.head)
        expected = sum(pair.agreement for pair in found) / sum(len(pair.links) for pair in found)
        assert one.agreement == pytest.approx(expected)
        assert one.error_rate is None
    assert scores[0].agreement == max(one.agreement for one in scores)
    assert translator.alignment_head == scores[0].head


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ((2, None), "layers 1 to 1. Received: layer=2"),
        ((0, None), "Received: layer=0"),
        ((1, 3), "heads 1 to 2. Received: head=3"),
        ((1, 0), "Received: head=0"),
    ],
)
def test_a_head_that_the_model_does_not_have_is_named(toy_translator, head, message):
    with pytest.raises(ValueError, match=message):
        toy_translator.align(SOURCES, TARGETS, head=head)


@pytest.mark.prove
def test_heads_are_compared_on_text_and_gold_of_the_same_length(toy_translator):
    translator = toy_translator.copy()
    with pytest.raises(ValueError, match="blank pairs only"):
        translator.choose_alignment_head([""], ["the"])
    with pytest.raises(ValueError, match="Received: 9 sources, 1 gold"):
        translator.choose_alignment_head(SOURCES, TARGETS, read_gold(["0-0"], "gold"))
    with pytest.raises(ValueError, match="Received: 7-0 for line 1"):
        translator.choose_alignment_head(["wir"], ["we"], read_gold(["7-0"], "gold"))
    assert translator.alignment_head is None
