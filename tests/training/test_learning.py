"""From text to a shortlist: entries, order, and what the toy translator says with it."""

import numpy as np
import pytest

from kformer.training import learn_shortlist
from kformer.training.data.lexicon import Lexicon
from kformer.training.shortlist_learning import entries_of
from support import toy

SEARCHES = pytest.mark.parametrize("beam_size", [1, 4])


def test_entries_are_the_likeliest_after_the_copy():
    lexicon = Lexicon(
        np.array([1, 1, 1, 1, 4]), np.array([2, 5, 6, 7, 3]), np.array([0.2, 0.4, 0.3, 0.0001, 1])
    )
    copies = [(1, 6), (2, 9)]
    ends, entries = entries_of(lexicon, copies, vocab_size=6)
    assert ends.tolist() == [0, 3, 4, 4, 5, 5]
    assert entries.tolist() == [6, 5, 2, 9, 3]
    ends, entries = entries_of(lexicon, copies, vocab_size=6, most=2)
    assert ends.tolist() == [0, 2, 3, 3, 4, 4]
    assert entries.tolist() == [6, 5, 9, 3]


@pytest.fixture
def shortlisted(toy_translator, toy_shortlist):
    toy_translator.shortlist = toy_shortlist
    yield toy_translator
    toy_translator.shortlist = None


def test_special_ids_are_always_candidates_and_frequent_ones_next(toy_shortlist, toy_translator):
    assert toy_shortlist.always == 4
    assert sorted(toy_shortlist.order[:4].tolist()) == [0, 1, 2, 3]
    rows = toy_translator.tokenizer.tokenize(toy.TARGETS[:64]).flat_values.numpy()
    counts = np.bincount(rows, minlength=toy_translator.tokenizer.vocab_size)
    frequent = counts[toy_shortlist.order[4:]]
    assert (np.diff(frequent) <= 0).all() and frequent[0] > 0


def test_every_piece_has_itself_as_its_first_entry(toy_shortlist):
    starts = np.concatenate([[0], toy_shortlist.ends[:-1]])
    pieces = np.arange(4, len(starts))
    np.testing.assert_array_equal(toy_shortlist.entries[starts[4:]], pieces)
    assert toy_shortlist.ends[2] == 0  # Padding, unknown and start are in no source.


@pytest.mark.sample(2)
@SEARCHES
def test_a_translator_keeps_its_answers(shortlisted, toy_shortlist, beam_size):
    assert toy_shortlist.size < shortlisted.tokenizer.vocab_size / 4
    found = shortlisted.translate(toy.SOURCES, beam_size=beam_size)
    shortlisted.shortlist = None
    assert found == shortlisted.translate(toy.SOURCES, beam_size=beam_size)


@pytest.mark.prove
def test_what_is_no_candidate_is_never_said(shortlisted, toy_shortlist):
    learnt = toy_shortlist
    fewest = type(learnt)(
        learnt.ends,
        learnt.entries,
        learnt.order,
        learnt.always,
        learnt.always,
        vocabularies=learnt.vocabularies,
    )
    shortlisted.shortlist = fewest
    found = shortlisted.translations(toy.SOURCES[:5], details=False)
    special = {*shortlisted.tokenizer.pieces(range(4))}
    assert {piece for one, *_ in found for piece in one.tokens} <= special


@pytest.mark.prove
def test_prefixes_and_other_restrictions_search_all_ids(shortlisted):
    options = [{"prefixes": toy.TARGETS[5:8]}, {"no_repeat_ngram": 2}, {"sample": True, "seed": 3}]
    found = [shortlisted.translate(toy.SOURCES[:3], **one) for one in options]
    shortlisted.shortlist = None
    assert found == [shortlisted.translate(toy.SOURCES[:3], **one) for one in options]


def test_a_copy_has_the_shortlist_and_a_file_has_none(shortlisted, toy_shortlist, tmp_path):
    assert shortlisted.copy().shortlist is toy_shortlist
    shortlisted.save(tmp_path / "translator.keras")
    assert type(shortlisted).load(tmp_path / "translator.keras").shortlist is None


@pytest.mark.prove
def test_two_vocabularies_have_one_too(two_vocabularies, toy_run, monkeypatch):
    files = toy_run.files["valid.de"], toy_run.files["valid.en"]
    learnt = learn_shortlist(two_vocabularies, *files, size=31)
    assert (len(learnt.ends), len(learnt.order), learnt.size) == (285, 290, 31)
    assert sorted(learnt.order[:4].tolist()) == [0, 1, 2, 3]
    monkeypatch.setattr(two_vocabularies, "shortlist", learnt)
    two_vocabularies.translate(toy.SOURCES[:3])


def test_a_table_of_another_translator_is_refused(toy_shortlist, two_vocabularies):
    with pytest.raises(ValueError, match="must have the vocabularies of its translator"):
        two_vocabularies.shortlist = toy_shortlist
    with pytest.raises(TypeError, match="`shortlist` must be a Shortlist"):
        two_vocabularies.shortlist = "table.npz"


def test_text_that_says_nothing_is_refused(toy_translator, written):
    with pytest.raises(ValueError, match=r"within 256 ids\. Received: none"):
        learn_shortlist(toy_translator, written("a.de", "\n\n"), written("a.en", "a\n\n"))
    with pytest.raises(ValueError, match=r"`size` must be at least 4\. Received: size=3"):
        learn_shortlist(toy_translator, "a.de", "a.en", size=3)
