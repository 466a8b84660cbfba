"""The file of a shortlist, and what it refuses."""

import re

import numpy as np
import pytest

from kformer import Shortlist

ARRAYS = {"ends": [0, 2, 3], "entries": [4, 1, 4], "order": [3, 0, 4, 1, 2]}
NUMBERS = {"always": 2, "size": 4}
DIGESTS = ("a" * 64, "b" * 64)


@pytest.fixture
def shortlist():
    return Shortlist(**ARRAYS, **NUMBERS, vocabularies=DIGESTS)


def test_what_is_saved_is_loaded(shortlist, tmp_path):
    shortlist.save(tmp_path / "table.npz")
    loaded = Shortlist.load(tmp_path / "table.npz")
    assert vars(loaded).keys() == vars(shortlist).keys()
    for name, value in vars(shortlist).items():
        np.testing.assert_array_equal(getattr(loaded, name), value)
    assert loaded.longest == 2
    assert [path.name for path in tmp_path.iterdir()] == ["table.npz"]


@pytest.mark.parametrize(
    "changes",
    [
        {"ends": [0, 2, 4]},
        {"ends": [2, 1, 3]},
        {"ends": [], "entries": []},
        {"entries": [4, 5, 4]},
        {"entries": [4, -1, 4]},
        {"order": [3, 0, 4, 1, 1]},
    ],
    ids=lambda changes: ", ".join(f"{name}={value}" for name, value in changes.items()),
)
def test_arrays_that_do_not_fit_together_are_refused(changes):
    with pytest.raises(ValueError, match=r"Received: \d ends, \d entries, 5 ids in order"):
        Shortlist(**(ARRAYS | changes), **NUMBERS, vocabularies=DIGESTS)


def test_the_order_of_an_exact_table_ascends(shortlist):
    with pytest.raises(ValueError, match="ascending if the table is exact"):
        Shortlist(**ARRAYS, **NUMBERS, vocabularies=DIGESTS, exact=True)


def test_an_exact_table_that_was_written_with_a_limit_has_all_candidates(shortlist, tmp_path):
    shortlist.save(tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz") as content:
        arrays = {**content, "format": 2, "order": np.arange(5), "size": 3}
    np.savez(tmp_path / "exact.npz", **arrays)
    assert Shortlist.load(tmp_path / "exact.npz").most(2) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 6}, "`size` must be at most 5. Received: size=6."),
        ({"size": 1}, "`size` must be at least 2. Received: size=1."),
        ({"always": 0}, "`always` must be at least 1. Received: always=0."),
    ],
)
def test_numbers_out_of_range_are_refused(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Shortlist(**ARRAYS, **(NUMBERS | changes), vocabularies=DIGESTS)


def test_other_files_are_refused(written, shortlist, tmp_path):
    np.savez(tmp_path / "other.npz", ends=[1])
    shortlist.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    damaged = [written("text.npz", "no table"), written("half.npz", whole[: len(whole) // 2])]
    for path in [tmp_path / "other.npz", *damaged]:
        with pytest.raises(ValueError, match="must hold a shortlist, .*" + path.name):
            Shortlist.load(path)
    with pytest.raises(FileNotFoundError, match=r"missing\.npz"):
        Shortlist.load(tmp_path / "missing.npz")


def test_a_newer_format_is_named(shortlist, tmp_path):
    shortlist.save(tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz") as content:
        np.savez(tmp_path / "newer.npz", **{**content, "format": 3})
    with pytest.raises(ValueError, match=r"update kformer\..*newer\.npz.*format 3"):
        Shortlist.load(tmp_path / "newer.npz")


def test_a_table_of_other_vocabularies_is_refused(shortlist):
    shortlist.check_vocabularies(DIGESTS)
    with pytest.raises(ValueError, match="aaaaaaaaaaaa and bbbbbbbbbbbb of the shortlist, bbbb"):
        shortlist.check_vocabularies(DIGESTS[::-1])
