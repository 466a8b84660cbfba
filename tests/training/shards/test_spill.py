"""Pairs on disk by their hash."""

import numpy as np

from kformer.training.preparation.near_duplicates import bands
from kformer.training.preparation.spill import Spill
from kformer.training.shards.shard_file import Rows, gather_ranges, joined, rows_from_sides

ROWS = Rows(np.array([(1, 2), (2, 1), (1, 1)], np.int32), np.arange(8, dtype=np.uint16))


def filled(folder, *batches):
    spill = Spill(folder, np.uint16)
    for rows in batches:
        hashes, first = np.unique(rows.hashes(), return_index=True)
        spill.add(rows.take(first), hashes)
    return spill


def as_set(rows):
    ends = np.cumsum(rows.lengths.sum(axis=1))
    parts = np.split(rows.ids, ends[:-1])
    lengths = map(tuple, rows.lengths.tolist())
    return {(pair, tuple(ids.tolist())) for pair, ids in zip(lengths, parts, strict=True)}


def test_each_pair_comes_back_once_and_the_files_are_gone(tmp_path):
    parts = [*filled(tmp_path, ROWS, ROWS.take(np.array([2, 0]))).parts(2, np.zeros(0, np.uint64))]
    assert len(parts[0].lengths) >= 2
    rows = joined(parts)
    assert len(rows.lengths) == 3
    assert as_set(rows) == as_set(ROWS)
    assert not [*tmp_path.iterdir()]


def test_what_is_dropped_leaves_no_empty_part(tmp_path):
    hashes = np.sort(ROWS.hashes())
    [part] = filled(tmp_path, ROWS).parts(1000, hashes[1:])
    assert part.hashes().tolist() == [hashes[0]]
    assert [*filled(tmp_path, ROWS).parts(1, hashes)] == []


def test_no_pairs_are_no_special_case(tmp_path):
    none = ROWS.take(np.zeros(0, int))
    assert none.hashes().shape == (0,)
    assert bands(none).shape == (0, 8)
    assert [*filled(tmp_path, none).parts(1, none.hashes())] == []


def test_equal_ids_on_other_sides_are_other_pairs():
    """(1 | 2 3) is not (1 2 | 3)."""
    ids = np.array([1, 2, 3, 1, 2, 3], np.uint16)
    hashes = Rows(np.array([(1, 2), (2, 1)], np.int32), ids).hashes()
    assert len({*hashes.tolist()}) == 2


def test_the_hash_of_a_pair_is_that_of_its_ids_alone():
    alone = [ROWS.take(np.array([i])).hashes()[0] for i in range(3)]
    assert ROWS.hashes().tolist() == alone
    assert ROWS._replace(ids=ROWS.ids.astype(np.int32)).hashes().tolist() == alone


def test_sides_become_rows():
    source = np.array([2, 0]), np.array([5, 6])
    target = np.array([1, 2]), np.array([7, 8, 9])
    rows = rows_from_sides([source, target])
    assert rows.lengths.tolist() == [[2, 1], [0, 2]]
    assert rows.ids.tolist() == [5, 6, 7, 8, 9]
    assert gather_ranges(rows.ids, np.array([3, 0]), np.array([2, 1])).tolist() == [8, 9, 5]
