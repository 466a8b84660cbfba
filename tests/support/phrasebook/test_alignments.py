"""The true alignments of the phrasebook."""

import random
from itertools import islice

import pytest

from kformer.phrasebook import Pair
from support.phrasebook import sample
from support.phrasebook.alignments import links

BY_HAND = [
    ("ich möchte ein bier", "i want a beer", "0-0 1-1 2-2 3-3"),
    ("den hut kaufe ich", "i buy the hat", "0-2 1-3 2-1 3-0"),
    ("heute trinke ich wein", "today i drink wine", "0-0 1-2 2-1 3-3"),
    ("was will er lesen ?", "what does he want to read ?", "0-0 1-3 1?4 2-2 3-5 3?1 4-6"),
    ("wer hat maria angerufen ?", "who called maria ?", "0-0 1?1 2-2 3-1 4-3"),
    ("ich kann nicht schlafen", "i cannot sleep", "0-0 1-1 2-1 3-2"),
    (
        "wir kennen die frau , die im park arbeitet",
        "we know the woman who works in the park",
        "0-0 1-1 2-2 3-3 4?4 5-4 6-6 6-7 7-8 8-5",
    ),
    (
        "der mann gibt dem kind den alten schlüssel",
        "the man gives the child the old key",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7",
    ),
    (
        "der film fängt um halb acht an",
        "the film begins at half past seven",
        "0-0 1-1 2-2 3-3 4-4 4?5 5-6 6?2",
    ),
    (
        "paul ist einunddreißig jahre alt",
        "paul is thirty-one years old",
        "0-0 1-1 2-2 3-3 4-4",
    ),
    ("Trinkst du Tee?", "Do you drink tea?", "0?0 0-2 1-1 2-3"),
    ("Ich glaube, dass er schläft.", "I think that he sleeps.", "0-0 1-1 1?2 2-2 3-3 4-4"),
    ("ich glaube , dass es regnet", "i think that it is raining", "0-0 1-1 2?2 3-2 4-3 5-5 5?4"),
]


@pytest.mark.parametrize(("source", "target", "expected"), BY_HAND)
def test_links_are_those_by_hand(source, target, expected):
    found = links(Pair(source, target))
    written = [
        f"{i}-{j}" if (i, j) in found.sure else f"{i}?{j}" for i, j in sorted(found.possible)
    ]
    assert sorted(written) == sorted(expected.split())


def test_nearly_every_word_of_the_grammar_has_a_link():
    pairs = [pair for pair, _ in islice(sample(random.Random(3)), 2000)]
    words = linked = 0
    for pair in pairs:
        found = links(pair)
        assert found.sure <= found.possible
        for side, text in enumerate(pair):
            words += len(text.split())
            linked += len({link[side] for link in found.possible})
            assert all(0 <= link[side] < len(text.split()) for link in found.possible)
    assert linked / words > 0.999
