"""Divides pairs into text to train on and held-out text: validation, test, and an unlike text.

A model and its search are chosen by validation text that is like the training text, so the choice
may not hold elsewhere. The unlike text has rare words or unusual lengths: it is drawn at random
from the tenth of the pairs that is most unusual in one of both.

No held-out sentence is in the training text: pairs with the same source or target, but for case,
spaces and punctuation, are dropped there.

Memory: some 40 bytes for each pair.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kformer.arguments import check_integer
from kformer.files import Publication, check_another_file
from kformer.training.preparation.raw_pairs import Paths, letters_of, pair_files, read_batches

_BUCKETS = 2**20  # Of hashed sequences of three characters.
_UNUSUAL = 0.1  # Share of the pairs among which the unlike text is drawn.
_MOST_RATIO = 3  # Of the lengths of an unlike pair, against the usual ratio; others may not match.


class Division(NamedTuple):
    """Numbers of pairs by part.

    Attributes:
        train: Pairs to train on.
        held_out: Pairs of each held-out part, by name.
        dropped: Pairs with a blank side, or with a side that is held out, which are in no part.
    """

    train: int
    held_out: dict[str, int]
    dropped: int


def hold_out(
    output: str | Path,
    source_files: Paths | None = None,
    target_files: Paths | None = None,
    *,
    pairs: Paths | None = None,
    columns: Sequence[str] | None = None,
    valid: int = 1000,
    test: int = 0,
    unlike: int = 0,
    seed: int = 0,
) -> Division:
    """Writes text to train on, and held-out text, as pairs of files in a folder.

    The files are `train.source`, `train.target`, `valid.source` and so on, in the order of the
    input; a part without pairs has no files.
    """
    wanted = {"valid": valid, "test": test, "unlike": unlike}
    for name, number in wanted.items():
        check_integer(name, number, least=0)
    files = pair_files(source_files, target_files, pairs, columns)
    kept = {name: number for name, number in wanted.items() if number}
    places = {
        (name, side): Path(output) / f"{name}.{side}"
        for name in ("train", *kept)
        for side in ("source", "target")
    }
    for place in places.values():
        check_another_file(place, *files.source, *files.target, *files.pairs)
    statistics = _statistics(files)
    parts = _parts(statistics, wanted, np.random.default_rng(seed))
    with contextlib.ExitStack() as stack:
        publication = stack.enter_context(Publication())
        opened = {
            part: stack.enter_context(_written(publication, place))
            for part, place in places.items()
        }
        first = 0
        for batch in read_batches(files):
            chosen = parts[first : first + len(batch.source)]
            first += len(batch.source)
            for i, name in enumerate(("train", *wanted)):
                if name in ("train", *kept):
                    for side, lines in batch.keep(chosen == i)._asdict().items():
                        opened[name, side].writelines(f"{line}\n" for line in lines)
    numbers = np.bincount(parts + 1, minlength=len(wanted) + 2).tolist()
    return Division(numbers[1], kept, numbers[0])


@contextlib.contextmanager
def _written(publication, place):
    with (
        publication.writing(place) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


class _Statistics(NamedTuple):
    """Numbers for each of N pairs.

    Attributes:
        hashes: int64 (N, 2), of the letters of both sides; 0 for a side without any.
        rarity: float32 (N, 2), mean -log p of the sequences of three characters of a side.
        lengths: int32 (N, 2), characters.
    """

    hashes: np.ndarray
    rarity: np.ndarray
    lengths: np.ndarray


def _statistics(files):
    counts = np.zeros((2, _BUCKETS), np.int64)
    hashes, lengths = [], []
    for batch in read_batches(files):
        for side, lines in enumerate(batch):
            for line in lines:
                np.add.at(counts[side], _trigrams(line), 1)
        hashes.append([[_hash(line) for line in pair] for pair in zip(*batch, strict=True)])
        lengths.append([[len(line) for line in pair] for pair in zip(*batch, strict=True)])
    if not hashes:
        raise ValueError(f"Some pairs must be there to divide. Received: {files.paths_by_name()}.")
    surprise = np.log(counts.sum(axis=1, keepdims=True)) - np.log(np.maximum(counts, 1))
    rarity = [
        [surprise[side][_trigrams(line)].mean() for side, line in enumerate(pair)]
        for batch in read_batches(files)
        for pair in zip(*batch, strict=True)
    ]
    return _Statistics(
        np.concatenate(hashes), np.array(rarity, np.float32), np.concatenate(lengths)
    )


def _trigrams(line):
    """Returns the bucket of each sequence of three characters, with a space at both ends."""
    codes = np.frombuffer(f"  {line.casefold()}  ".encode("utf-32-le", "replace"), np.uint32)
    codes = codes.astype(np.uint64)
    mixed = codes[:-2] * np.uint64(2654435761) + codes[1:-1] * np.uint64(40503) + codes[2:]
    return (mixed % np.uint64(1_000_003)).astype(np.int64)  # Fewer than `_BUCKETS`.


def _hash(line):
    """Returns a hash of the letters and digits of a line; 0 if it has none."""
    text = letters_of(line)
    return hash(text) | 1 if text else 0


def _parts(statistics, wanted, rng):
    """Returns the part of each pair, int8 (N,): -1 for none, 0 to train on, or 1, 2, 3."""
    hashes, rarity, lengths = statistics
    parts = np.where((hashes != 0).all(axis=1), 0, -1).astype(np.int8)
    usable = parts == 0
    ratio = np.log(np.maximum(lengths[:, 0], 1) / np.maximum(lengths[:, 1], 1))
    matches = np.abs(ratio - np.median(ratio[usable])) < np.log(_MOST_RATIO)
    candidates = np.flatnonzero(usable & matches & (hashes[:, 0] != hashes[:, 1]))
    size = np.log(lengths[candidates].sum(axis=1))
    unusual = np.maximum(
        _ranks(rarity[candidates].sum(axis=1)), _ranks(np.abs(size - np.median(size)))
    )
    most_unusual = candidates[unusual >= np.quantile(unusual, 1 - _UNUSUAL)] if len(unusual) else []
    pools = {"valid": candidates, "test": candidates, "unlike": np.array(most_unusual, int)}
    for number, name in reversed([*enumerate(wanted, 1)]):  # The smallest pool first.
        pool = rng.permutation(pools[name][parts[pools[name]] == 0])
        _, first = np.unique(hashes[pool, 0], return_index=True)
        pool = pool[np.sort(first)]  # Each source once.
        if len(pool) < wanted[name]:
            raise ValueError(
                f"There must be enough pairs to hold out. Received: {name}={wanted[name]}, of "
                f"{len(pool)} that can be {name} text."
            )
        parts[pool[: wanted[name]]] = number
        _drop_the_same(parts, hashes, number)
    if not (parts == 0).any():
        raise ValueError(f"Some pairs must be left to train on. Received: {wanted}.")
    return parts


def _ranks(values):
    """Returns the rank of each value, from 0 to 1."""
    return np.argsort(np.argsort(values, kind="stable")) / max(1, len(values) - 1)


def _drop_the_same(parts, hashes, number):
    """Takes pairs out of the training text if they share a side with a pair of a held-out part."""
    held_out = parts == number
    for side in range(2):
        same = np.isin(hashes[:, side], hashes[held_out, side])
        parts[same & (parts == 0)] = -1
