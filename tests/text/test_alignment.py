"""Links between words from attention, and their error rate."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kformer.text.alignment import (
    GoldLinks,
    align_words,
    alignment_error_rate,
    check_gold,
    read_gold,
)

SOURCE, TARGET = ["▁ha", "us", "▁", "<0xC3>", "<0xA4>"], ["▁a", "▁hou", "se"]


def test_words_are_what_their_pieces_spell():
    found = align_words(np.ones((3, 5)), SOURCE, TARGET)
    assert (found.source, found.target) == (("haus", "ä"), ("a", "house"))


def test_a_word_sums_over_source_pieces_and_averages_over_target_pieces():
    attention = np.array(
        [
            [0.0, 0.1, 0.3, 0.3, 0.3],  # a -> ä
            [0.3, 0.3, 0.4, 0.0, 0.0],  # hou -> haus, 0.6 of two pieces against 0.4 of one
            [0.0, 0.3, 0.7, 0.0, 0.0],  # se -> ä; the mean of house is 0.45 haus, 0.55 ä
        ]
    )
    found = align_words(attention, SOURCE, TARGET)
    assert found.links == [(1, 0), (1, 1)]
    assert str(found) == "1-0 1-1"
    attention[2] = [0.3, 0.3, 0.4, 0, 0]
    found = align_words(attention, SOURCE, TARGET)
    assert found.links == [(0, 1), (1, 0)]
    assert found.agreement == 2


def test_links_that_one_direction_has_alone_do_not_agree():
    attention = np.array([[0.6, 0.4], [0.9, 0.1]])  # Both to the first; it, to the second.
    found = align_words(attention, ["▁a", "▁b"], ["▁c", "▁d"])
    assert found.links == [(0, 0), (0, 1)]
    assert found.agreement == 1


@pytest.mark.parametrize(("source", "target"), [([], ["▁a"]), (["▁a"], []), ([], [])])
def test_without_words_there_are_no_links(source, target):
    found = align_words(np.zeros((len(target), len(source))), source, target)
    assert found.links == [] and str(found) == ""


def best_by_loops(attention, of_source, of_target):
    """Returns for each target word the source words that it looked at most, by exact fractions."""
    best = []
    for j in range(max(of_target) + 1):
        sums = {}
        for t, word in enumerate(of_target):
            for s, other in enumerate(of_source):
                if word == j:
                    share = Fraction(int(attention[t, s]), of_target.count(j))
                    sums[other] = sums.get(other, 0) + share
        best.append({i for i, one in sums.items() if one == max(sums.values())})
    return best


@given(
    attention=arrays(np.float64, (5, 7), elements=st.integers(0, 8)),
    starts=st.tuples(st.sets(st.integers(1, 6)), st.sets(st.integers(1, 4))),
)
def test_links_are_those_of_plain_loops(attention, starts):
    pieces, words = [], []
    for size, begins in zip((7, 5), starts, strict=True):
        pieces.append(["▁a" if i in begins | {0} else "a" for i in range(size)])
        words.append([sum(1 for k in range(1, i + 1) if k in begins) for i in range(size)])
    best = best_by_loops(attention, *words)
    links = align_words(attention, *pieces).links
    assert sorted(j for _, j in links) == [*range(len(best))]
    assert all(i in best[j] for i, j in links)  # Of equal ones, rounding chooses.


def test_links_by_hand_are_sure_or_possible():
    [first, second] = read_gold(["0-0 1?2 3p4", ""], "gold")
    assert first == GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2), (3, 4)}))
    assert second == GoldLinks(frozenset(), frozenset())


@pytest.mark.parametrize("link", ["0", "0:1", "a-b", "-1-0", "0--1"])
def test_a_malformed_link_is_named_with_its_line(link):
    with pytest.raises(ValueError, match=rf"Received: '{link}' in 'gold.txt', line 2"):
        read_gold(["0-0", f"0-0 {link}"], "gold.txt")


def test_a_link_of_words_that_there_are_not_is_named():
    found = align_words(np.ones((3, 5)), SOURCE, TARGET)
    check_gold([found], read_gold(["1-1"], "gold"))
    with pytest.raises(ValueError, match="Received: 2-0 for line 2, which has 2 and 2 words"):
        check_gold([found, found], read_gold(["1-1", "2?0"], "gold"))


def test_the_error_rate_is_that_of_the_paper():
    """An example by hand: |A| = 3, |S| = 2, |A ∩ S| = 1, |A ∩ P| = 2."""
    gold = read_gold(["0-0 1-1 2?1"], "gold")
    assert alignment_error_rate([[(0, 0), (2, 1), (2, 2)]], gold) == pytest.approx(1 - 3 / 5)


def test_the_error_rate_counts_the_links_of_all_sentences():
    gold = read_gold(["0-0", "0-0 1-1 2-2"], "gold")
    assert alignment_error_rate([[(0, 1)], [(0, 0), (1, 1), (2, 2)]], gold) == 1 - 6 / 8
    assert alignment_error_rate([one.sure for one in gold], gold) == 0
    with pytest.raises(ValueError, match="needs links"):
        alignment_error_rate([[]], read_gold([""], "gold"))
