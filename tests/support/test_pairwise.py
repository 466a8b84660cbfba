"""Of a product, the cases in which each two values meet."""

import itertools

import pytest

from support.pairwise import covering


@pytest.mark.parametrize("sizes", [(4,), (3, 5), (6, 2, 4, 3), (2, 2, 2, 2, 2)])
def test_each_two_values_meet_in_few_cases(sizes):
    columns = [[object() for _ in range(size)] for size in sizes]
    names = "abcde"[: len(sizes)]
    cases = [dict(zip(names, values, strict=True)) for values in itertools.product(*columns)]
    kept = [cases[i] for i in covering(cases)]
    for one, other in itertools.combinations(names, 2):
        meet = {(case[one], case[other]) for case in kept}
        assert meet == {(case[one], case[other]) for case in cases}
    assert len(kept) == len(cases) if len(sizes) < 3 else len(kept) < len(cases) / 2


def test_pairs_that_no_case_has_are_not_missed():
    a, b = object(), object()
    cases = [{"one": a, "other": a}, {"one": b, "other": b}, {"one": b, "other": b}]
    assert covering(cases) == [0, 1]
