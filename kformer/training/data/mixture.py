"""Several corpora read as one by their weights: each window of text has a share of each corpus.

A corpus is a pair of files. Its weight is the number of times that a pass reads it.
"""

import io
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from kformer.text.long_lines import LONGEST
from kformer.text.tables import plain
from kformer.text.text_files import as_list
from kformer.training.data.pairs import corpus_weights, count_pairs

_CHUNK = 2**20  # Bytes of a file that are read at once.
WINDOW = 100_000  # Pairs; shuffling happens within a window.
_PLACES = 2**40  # More than the lines of a corpus.


class Mixture:
    """Reads corpora side by side, in windows.

    A pass reads a corpus of weight 2.3 three times. Of the third time, `thin` keeps a random 0.3 of
    each bucket of lengths. The number is rounded up, so that every pair is in some pass; and it is
    taken per bucket, so that all passes have the same number of batches. (A corpus of weight 0.1
    is also read and tokenized completely.)

    Args:
        source_files, target_files: A path or a list of paths each.
        weights: How often a pass reads each corpus; 1 by default.
        temperature: Instead of `weights`: the share of a corpus of n pairs is proportional to
            n^(1 / temperature), and a pass has as many pairs as all corpora together
            ([Arivazhagan et al., 2019](https://arxiv.org/abs/1907.05019)). At 1 all weights are
            1; at 5 small corpora are read often.
        groups: A name for each corpus, as that of its direction of translation. With `temperature`,
            corpora of one name count as one; `group_of` tells them apart. By default, with
            `temperature` each corpus counts by itself, and `group_of` is 0 for all.
        window: Maximum number of pairs in a window.
        longest: Number of bytes that are read of a line, at most.

    Attributes:
        files: The source and the target path of each corpus.
        names: How to show each corpus: the path of its source.
        weights: How often a pass reads each corpus.

    Raises:
        FileNotFoundError, ValueError: As for `check_parallel` and `check_weights`.
    """

    def __init__(
        self,
        source_files: str | Path | Iterable[str | Path],
        target_files: str | Path | Iterable[str | Path],
        weights: Sequence[float] | None = None,
        temperature: float | None = None,
        groups: Sequence[str] | None = None,
        window: int = WINDOW,
        longest: int = LONGEST,
    ):
        source_files, target_files = as_list(source_files), as_list(target_files)
        self._longest = longest
        self._pairs = self.count(source_files, target_files)
        self.files = list(zip(source_files, target_files, strict=True))
        self.names = [source for source, _ in self.files]
        self.weights = corpus_weights(self._pairs, weights, temperature, groups)
        self._rounds = [math.ceil(weight) for weight in self.weights]
        names = [*(groups or [""] * len(self.files))]
        self._groups = [names.index(name) for name in names]
        read = sum(times * pairs for times, pairs in zip(self._rounds, self._pairs, strict=True))
        self._number = math.ceil(read / window)
        # The share that a round keeps: all, except for the last round of each corpus.
        self._shares = [share for weight in self.weights for share in (1.0, weight % 1 or 1.0)]

    count = staticmethod(count_pairs)  # From lists of paths to numbers of pairs.

    def _file(self, file):
        """Returns the path of a plain file, the end of its texts, and how much of one is read."""
        return plain(file), b"\n", self._longest + 1

    def _texts(self, lines):
        """Returns the texts of lines, string tensors (N,)."""
        lines = tf.strings.regex_replace(lines, "\r$", "")
        longest = tf.reduce_max(tf.strings.length(lines))
        return tf.cond(  # A cut of every line would take a quarter of the time.
            longest > self._longest,
            lambda: tf.strings.substr(lines, 0, self._longest),
            lambda: lines,
        )

    def windows(self):
        """Yields (source, target, round), string tensors (N,) and an int32 tensor (N,).

        `round` is for `thin` and `corpus_of`: 2 i for a pair of corpus i that stays, 2 i + 1 in the
        last round of corpus i.
        """
        parts = [self._part(i) for i in range(len(self.files))]
        windows = tf.data.Dataset.zip(tuple(parts)).map(
            lambda *parts: tuple(tf.concat(side, axis=0) for side in zip(*parts, strict=True))
        )
        return without_autotuning(windows)

    def eager_windows(self, with_places: bool = False) -> Iterator[tuple[tf.Tensor, ...]]:
        """Yields the windows of `windows` without its graph, which takes seconds to build.

        With `with_places` also the place of each pair, an int64 tensor (N,) for `place_of`; -1 from
        the second time on that the pass reads a corpus.
        """
        with tf.device("CPU:0"):
            parts = [self._eager_part(i, with_places) for i in range(len(self.files))]
            for window in itertools.islice(zip(*parts, strict=True), self._number):
                yield tuple(tf.concat(side, axis=0) for side in zip(*window, strict=True))

    def place_of(self, place: int) -> tuple[int, int]:
        """Returns the number of the corpus, from 0, and of its line, from 1, of a place."""
        return place // _PLACES, place % _PLACES + 1

    @staticmethod
    def corpus_of(rounds: Any):
        """Returns the number of the corpus of each pair, from 0, for the rounds of `windows`."""
        return rounds // 2

    def group_of(self, rounds: Any):
        """Returns a number for the group of each pair, int32 (N,), for the rounds of `windows`."""
        return tf.gather(tf.constant(self._groups, tf.int32), self.corpus_of(rounds))

    def _part(self, i):
        """Yields the part of corpus i in each window."""
        sides = [
            ended_texts(*self._file(file))
            .map(self._texts)
            .repeat(self._rounds[i])
            .rebatch(self._size(i))
            for file in dict.fromkeys(self.files[i])
        ]
        if len(sides) == 1:  # One file on both sides is read once.
            part = sides[0].map(lambda text: (text, text)).enumerate()
        else:
            part = tf.data.Dataset.zip(*sides).enumerate()
        part = part.map(lambda number, text: (*text, self._round(i, number, text)))
        empty = tf.data.Dataset.from_tensors(_no_pairs()).repeat()
        return part.concatenate(empty).take(self._number)

    def _eager_part(self, i, with_places):
        """Yields the part of corpus i in each window, and then parts without pairs."""
        sides = []
        for file in dict.fromkeys(self.files[i]):
            path, *form = self._file(file)
            rounds = itertools.repeat(path, self._rounds[i])
            texts = (eager_texts(path, *form) for path in rounds)
            texts = map(self._texts, itertools.chain.from_iterable(texts))
            sides.append(_rebatched(texts, self._size(i)))
        for number, text in enumerate(zip(*sides, strict=True)):
            text = text * (2 // len(text))  # One file on both sides is read once.
            places = [self._places(i, number, text)] if with_places else []
            yield *text, self._round(i, number, text), *places
        no_places = [tf.constant([], tf.int64)] if with_places else []
        yield from itertools.repeat((*_no_pairs(), *no_places))

    def _size(self, i):
        """Returns the number of pairs of corpus i in a window."""
        return math.ceil(self._rounds[i] * self._pairs[i] / self._number)

    def _round(self, i, number, text):
        """Returns the rounds of the pairs of corpus i in the window of a number."""
        whole = math.floor(self.weights[i]) * self._pairs[i]
        return tf.where(self._numbers(i, number, text) < whole, 2 * i, 2 * i + 1)

    def _places(self, i, number, text):
        """Returns the places of the pairs of corpus i in the window of a number."""
        pair = self._numbers(i, number, text)
        return tf.where(pair < self._pairs[i], pair + i * _PLACES, -1)

    def _numbers(self, i, number, text):
        return number * self._size(i) + tf.range(tf.size(text[0], tf.int64))

    def thin(self, rounds: Any, bucket: Any, seed: Any):
        """Chooses the pairs of a window to keep, from the rounds that are kept in part.

        Args:
            rounds: int32 tensor (N,), as in `windows`.
            bucket: int32 tensor (N,), the number of the bucket of each pair.
            seed: int64 tensor (2,).

        Returns:
            int32 tensor (M,), indices of pairs, ascending. For each round and bucket, their
            number does not depend on the seed.
        """
        if all(share == 1 for share in self._shares):
            return tf.range(tf.size(rounds))
        chance = tf.random.stateless_uniform(tf.shape(rounds), seed, 0, 2**32, tf.int64)
        group = tf.cast(rounds, tf.int64) * 2**16 + tf.cast(bucket, tf.int64)
        order = tf.argsort(group * 2**32 + chance, stable=True)
        group = tf.gather(group, order)
        first, end = (tf.searchsorted(group, group, side) for side in ("left", "right"))
        shares = tf.constant(self._shares, tf.float64)
        share = tf.gather(shares, tf.gather(rounds, order))
        kept = tf.math.ceil(share * tf.cast(end - first, tf.float64) - 1e-6)
        rank = tf.range(tf.size(order)) - first
        return tf.sort(tf.boolean_mask(order, rank < tf.cast(kept, tf.int32)))


def longer_side(source: Any, target: Any):
    """Returns the bytes of the longer side of each pair, int32 (N,), for string tensors (N,)."""
    return tf.maximum(tf.strings.length(source), tf.strings.length(target))


def _no_pairs():
    """Returns the part of a window that a small corpus has in the last windows."""
    return tf.constant([], tf.string), tf.constant([], tf.string), tf.constant([], tf.int32)


def ended_texts(path: str, end: bytes, longest: int | None = None) -> tf.data.Dataset:
    """Yields the texts of a plain file, each ended by one byte, in string tensors (N,).

    Of a text of more than `longest` bytes, these come, and up to a chunk more.

    (`tf.data.TextLineDataset` deletes every "\\r", and takes longer. Python would have to be asked
    by the threads of `tf.data`, which it makes wait for ever when it ends.)
    """

    def cut(begun, chunk):
        return _ended(begun, chunk, end, longest)

    return _chunks(path, end).scan(tf.constant(b""), cut)


def eager_texts(path: str, end: bytes, longest: int | None = None) -> Iterator[tf.Tensor]:
    """Yields the tensors that `ended_texts` yields, without a graph."""
    rest, chunk = tf.constant(b""), b""
    with Path(path).open("rb") as file:
        while following := file.read(_CHUNK):
            rest, texts = _ended(rest, chunk := following, end, longest)
            yield texts
    if not chunk.endswith(end):
        yield _ended(rest, end, end, longest)[1]


def _ended(begun, chunk, end, longest):
    """Returns the beginning of a text that goes on in the next chunk, and those that ended."""
    texts = tf.strings.split(begun + chunk, end)
    rest = texts[-1] if longest is None else tf.strings.substr(texts[-1], 0, longest)
    return rest, texts[:-1]


def _rebatched(tensors: Iterable[tf.Tensor], size: int) -> Iterator[tf.Tensor]:
    """Yields the elements of tensors (N,) in tensors (size,); the last one may have fewer."""
    waiting, number = [], 0
    for tensor in tensors:
        waiting.append(tensor)
        number += len(tensor)
        if number >= size:
            elements = tf.concat(waiting, axis=0)
            end = number // size * size
            yield from tf.split(elements[:end], end // size)
            waiting, number = [elements[end:]], number - end
    if number:
        yield tf.concat(waiting, axis=0)


def _chunks(path, end):
    """Yields the content of a file in parts; a last text without an end gets one."""
    size = Path(path).stat().st_size
    rest = size % _CHUNK
    chunks = tf.data.Dataset.from_tensor_slices(tf.constant([], tf.string))
    if size > rest:
        chunks = tf.data.FixedLengthRecordDataset(path, _CHUNK, footer_bytes=rest)
    if rest:
        last = tf.data.FixedLengthRecordDataset(path, rest, header_bytes=size - rest)
        chunks = chunks.concatenate(last)
    with Path(path).open("rb") as file:
        file.seek(-1, io.SEEK_END)
        has_end = file.read() == end
    return chunks if has_end else chunks.concatenate(tf.data.Dataset.from_tensors(end))


def without_autotuning(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the data set with the tuning of `tf.data` off, so that a pass over it ends at once.

    Data sets that are made of it have it off, too. The thread of TensorFlow 2.21 that tunes a pass
    sleeps for 10 ms at first, then for twice as long each time, up to a minute. At the end of the
    pass it is often woken too early to see that, and sleeps on; training waits for it. After a pass
    of 25 seconds that took another 16.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)
