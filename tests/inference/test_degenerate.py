"""Degenerate output: loops and absurd lengths are flagged, good translations are not."""

import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kformer.inference.degenerate import degenerate_flags, repetitions
from support.phrasebook import sample

SENTENCE = list(range(100, 112))


def repetitions_by_hand(ids):
    """Every n-gram at every place, and how often it follows itself."""
    most = 1
    for n in range(1, len(ids) + 1):
        for start in range(len(ids)):
            end = start + n
            while end < len(ids) and ids[end] == ids[end - n]:
                end += 1
            if end - start - n >= max(8, len(ids) / 2):
                most = max(most, (end - start) // n)
    return most


@given(st.lists(st.integers(0, 2), max_size=30))
def test_repetitions_are_those_of_the_definition(ids):
    assert repetitions(ids) == repetitions_by_hand(ids)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.lists(st.integers(10, 99), max_size=6, unique=True),
)
def test_an_n_gram_that_follows_itself_is_a_loop(gram, before):
    times = 3 + 24 // len(gram)
    assert "loop" in degenerate_flags(SENTENCE, before + gram * times)


@pytest.mark.parametrize(("said", "allowed"), [([5], 8), (list(range(11)), 2)])
def test_a_word_may_come_eight_times_and_a_sentence_twice(said, allowed):
    assert degenerate_flags(SENTENCE, said * allowed) == ()
    assert degenerate_flags(SENTENCE, said * (allowed + 1)) == ("loop",)


def test_a_loop_may_be_the_smaller_part():
    assert degenerate_flags(SENTENCE * 2, [*range(20), *[7] * 10]) == ()


def test_a_source_that_repeats_itself_excuses_a_loop():
    assert degenerate_flags([1, 2] * 9, [5, 6] * 9) == ()
    assert degenerate_flags([1, 2] * 9, [5, 6] * 19) == ("loop",)


@given(st.integers(0, 60), st.integers(0, 240))
def test_a_length_is_absurd_by_its_ratio(shorter, longer):
    longer += shorter
    absurd = longer > 3 * shorter + 10
    one, other = list(range(shorter)), list(range(longer))
    assert degenerate_flags(one, other) == (("length ratio",) if absurd else ())
    if one:
        assert degenerate_flags(other, one) == (("length ratio",) if absurd else ())


def test_no_translation_at_all_is_absurd_but_for_a_blank_line():
    assert degenerate_flags([7], []) == ("length ratio",)
    assert degenerate_flags([], []) == ()


def test_good_translations_pass(tokenizer):
    pairs = [pair for pair, _ in islice(sample(random.Random(1)), 500)]
    pairs += [
        ("Nein, nein, nein!", "No, no, no!"),
        ("Ha ha ha ha ha ha!", "Ha ha ha ha ha ha!"),
        ("Es kostet 1.000.000.000.000 Euro.", "It costs 1,000,000,000,000 euros."),
        ("Sie lief und lief und lief und lief.", "She ran and ran and ran and ran."),
        ("----------------------------", "----------------------------"),
        ("Ja.", "Yes, of course."),
    ]
    sources, targets = (
        tokenizer.tokenize(list(side)).to_list() for side in zip(*pairs, strict=True)
    )
    flagged = [
        pair for pair, *ids in zip(pairs, sources, targets, strict=True) if degenerate_flags(*ids)
    ]
    assert flagged == []
