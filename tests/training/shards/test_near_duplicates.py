"""Pairs that differ little: one of them stays, whatever the order."""

import numpy as np

from kformer.training.preparation.near_duplicates import NearDuplicates, bands
from kformer.training.shards.shard_file import Rows


def rows(*texts):
    """Pairs whose source is empty."""
    lengths = np.array([(0, len(text)) for text in texts], np.int32)
    return Rows(lengths, np.concatenate(texts).astype(np.uint16))


def random_text(rng, length=40):
    return rng.integers(0, 8000, length)


def changed(rng, text, number):
    text = text.copy()
    text[rng.choice(len(text), number, replace=False)] = rng.integers(0, 8000, number)
    return text


def test_bands_do_not_depend_on_the_neighbours(tmp_path):
    rng = np.random.default_rng(0)
    texts = [random_text(rng, length) for length in (2, 3, 5, 40, 1)]
    together = bands(rows(*texts))
    for i, text in enumerate(texts):
        np.testing.assert_array_equal(bands(rows(text))[0], together[i])


def test_pairs_are_found_as_often_as_the_table_says():
    """Two changes of 40 ids leave a similarity of 35 / 43 or more, 20 changes one below 0.3."""
    rng = np.random.default_rng(1)
    texts = [random_text(rng) for _ in range(400)]

    def share(number):
        others = [changed(rng, text, number) for text in texts]
        return (bands(rows(*texts)) == bands(rows(*others))).any(axis=1).mean()

    assert share(0) == 1
    assert share(1) > 0.95
    assert share(2) > 0.75
    assert share(20) < 0.02


def test_the_pair_of_the_smallest_hash_stays(tmp_path):
    rng = np.random.default_rng(2)
    text, other = random_text(rng), random_text(rng)
    alike = [text, changed(rng, text, 1), text]  # The last one is a copy, not a near-duplicate.
    found = bands(rows(*alike, other))
    hashes = np.array([7, 5, 7, 3], np.uint64)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        near = NearDuplicates(tmp_path)
        for i in order:
            near.add(found[i : i + 1], hashes[i : i + 1])
        assert near.dropped().tolist() == [7]
        assert not [*tmp_path.iterdir()]
