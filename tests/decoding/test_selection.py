"""The candidates of a source: against a dictionary of points, and what always holds."""

import numpy as np
import pytest

from kformer.decoding.shortlist import Selection, Shortlist

U, V, B, S, N = 13, 97, 5, 7, 31
ALWAYS = 3


@pytest.fixture(scope="module")
def shortlist():
    """A random table, in which some source ids have no entries."""
    random = np.random.default_rng(2)
    numbers = random.integers(0, 17, U)
    numbers[[4, U - 1]] = 0
    entries = [random.choice(V, number, replace=False) for number in numbers]
    ends, order = np.cumsum(numbers), random.permutation(V)
    return Shortlist(ends, np.concatenate(entries), order, ALWAYS, N, ("source", "target"))


@pytest.fixture(scope="module")
def source():
    rows = np.random.default_rng(3).integers(1, U, (B, S)).astype("int32")
    rows[1, 2:] = 0
    rows[2, :] = 0
    return rows


def by_hand(shortlist, row):
    """The candidates of a row, by sorting all ids."""
    points = dict.fromkeys(range(V), 0)
    starts = np.concatenate([[0], shortlist.ends])
    for i in row[row != 0]:
        for rank, entry in enumerate(shortlist.entries[starts[i] : starts[i + 1]]):
            points[entry] += max(64 // (rank + 1), 1)
    place = {entry: number for number, entry in enumerate(shortlist.order.tolist())}
    best = sorted(range(V), key=lambda i: (place[i] >= ALWAYS, -points[i], place[i]))
    return sorted(best[:N])


def test_they_are_the_ids_with_the_most_points(shortlist, source):
    found = np.array(Selection(shortlist, padding_id=0)(source))
    assert found.shape == (B, N)
    for row, candidates in zip(source, found, strict=True):
        assert sorted(candidates.tolist()) == by_hand(shortlist, row)


def test_each_comes_once_and_some_always(shortlist, source):
    for candidates in np.array(Selection(shortlist, padding_id=0)(source)).tolist():
        assert len({*candidates}) == N
        assert {*shortlist.order[:ALWAYS].tolist()} <= {*candidates}


def test_padding_and_other_rows_change_nothing(shortlist, source):
    select = Selection(shortlist, padding_id=0)
    padded = np.pad(source, ((0, 0), (0, 4)))
    together = np.array(select(padded))
    for row, candidates in zip(source, together, strict=True):
        np.testing.assert_array_equal(np.array(select(row[None]))[0], candidates)


@pytest.fixture(scope="module")
def exact(shortlist):
    """The same table as Marian's are: all entries, and the first ids up to a multiple of 8."""
    parts = (shortlist.ends, shortlist.entries, np.arange(V), ALWAYS, N)
    return Shortlist(*parts, shortlist.vocabularies, exact=True)


def all_entries(shortlist, row):
    """What Marian's shortlist chooses."""
    starts = np.concatenate([[0], shortlist.ends])
    chosen = {*range(ALWAYS)}
    for i in row[row != 0]:
        chosen |= {*shortlist.entries[starts[i] : starts[i + 1]].tolist()}
    others = (i for i in range(V) if i not in chosen)
    while len(chosen) % 8:
        chosen.add(next(others))
    return chosen


def test_an_exact_one_has_all_entries_of_every_row(exact, source):
    chosen = np.array(Selection(exact, padding_id=0)(source))
    assert chosen.shape == (B, V)
    expected = [all_entries(exact, row) for row in source]
    assert max(map(len, expected)) > N  # More than the size, which is not read.
    for mask, ids in zip(chosen, expected, strict=True):
        assert {*np.flatnonzero(mask).tolist()} == ids


def test_of_a_single_short_source_it_lists_them(exact):
    wide = np.concatenate([exact.ends, np.full(900, len(exact.entries))])
    table = Shortlist(wide, exact.entries, np.arange(V + 900), ALWAYS, N, ("a", "b"), exact=True)
    for row in ([1, 2], [4, 12], [7, 7, 0]):
        source = np.array([row], "int32")
        ids = np.array(Selection(table, padding_id=0)(source))[0]
        assert len(ids) == table.most(len(row)) < V
        assert {*ids.tolist()} - {0} == all_entries(exact, source[0]) - {0}


def test_no_source_has_more_than_the_most(exact):
    for length in range(1, U):
        rows = np.random.default_rng(length).integers(0, U, (50, length))
        assert max(len(all_entries(exact, row)) for row in rows) <= exact.most(length) <= V


def test_a_vocabulary_of_more_than_two_bytes_has_them_too():
    entries = [70_001, 65_536, 32_768, 0]
    shortlist = Shortlist([0, 4], entries, np.arange(70_003), 1, 5, ("source", "target"))
    found = np.array(Selection(shortlist, padding_id=0)(np.array([[1]], "int32")))
    assert sorted(found[0].tolist()) == [0, 1, 32_768, 65_536, 70_001]
