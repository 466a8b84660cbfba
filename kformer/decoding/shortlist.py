"""Shortlists: the table of likely translations of each source id, and the choice of candidates.

The table is the lexical shortlist of the fast decoders of
[Devlin, 2017](https://arxiv.org/abs/1705.01991) and of
[Marian](https://aclanthology.org/P18-4020/): logits are computed for the likely translations of the
ids of a source and for the most frequent ids alone. The candidates of a source are chosen in graph,
by operations that every runtime has.

An exact shortlist has all entries of a source's ids as candidates, however many, as in Marian.

Axes: B batch, S source length, U source vocabulary, V target vocabulary, E entries, R most entries
of a source id, N candidates.
"""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from keras import ops

from kformer.archives import Archive
from kformer.arguments import check_integer
from kformer.backend import gather
from kformer.files import check_file, replacing

_FORMAT, _EXACT_FORMAT = 1, 2  # The second only of exact ones, which others read as the first.
_ARRAYS = ("ends", "entries", "order")
_FIRST = 64.0  # Points that a source id gives to its first entry.
_HALF = 2**15  # Half of the numbers that two bytes can hold.
_EXACT_MULTIPLE = 8  # Marian's matrices of int8 have such a number of columns.
_GATHERED_SHARE = 4  # A quarter of the vocabulary: more rows cost more to gather than they save.
_ALWAYS = 2.0**22  # More than all other points: sums of integers up to 2^24 are exact in float32.


class Shortlist:
    """Table of the target ids that a translation may have, by the ids of its source.

    Set it as `shortlist` of a `kformer.Translator`, or give its file to `kformer export
    --shortlist`. `kformer shortlist` and `kformer.training.learn_shortlist` learn one from text.
    The candidates of a source are `size` ids: ids that are always candidates, the entries of its
    ids, the likeliest first, and then the most frequent ids.

    Args:
        ends: int array (U,), where the entries of each source id end, ascending; they begin at the
            end of the id before.
        entries: int array (E,), target ids, for each source id the likeliest first.
        order: int array (V,), all target ids: first the ids that are always candidates, then the
            rest, the most frequent first.
        always: The number of ids that are always candidates.
        size: Number of candidates, at least `always` and at most V; not read if `exact`.
        vocabularies: The digests of the source and target vocabulary, by `digest_of`.
        exact: Whether all entries of a source's ids are candidates, and the first ids in `order`,
            which must ascend, fill their number up to a multiple of 8, as in Marian. The network
            must never choose the padding id.

    Attributes:
        longest: The largest number of entries of a source id.

    Raises:
        TypeError: `always` or `size` is no integer.
        ValueError: The arrays do not fit together, or a number is out of range.

    Examples:
        >>> import kformer
        >>> from kformer.training import learn_shortlist
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.shortlist = learn_shortlist(translator, "test.de", "test.en", size=200)
        >>> translator.translate("Ein Hund läuft.")
        'A dog runs.'
    """

    def __init__(
        self,
        ends: np.ndarray,
        entries: np.ndarray,
        order: np.ndarray,
        always: int,
        size: int,
        vocabularies: tuple[str, str],
        exact: bool = False,
    ):
        self.exact = exact
        self.ends, self.entries, self.order = (
            np.ascontiguousarray(array, np.int32) for array in (ends, entries, order)
        )
        vocab_size = len(self.order)
        self.always = check_integer("always", always, least=1, most=vocab_size)
        size = vocab_size if exact else size
        self.size = check_integer("size", size, least=self.always, most=vocab_size)
        self.vocabularies = tuple(vocabularies)
        numbers = np.diff(self.ends, prepend=0)
        self.longest = int(numbers.max(initial=0))
        valid = (
            len(self.ends)
            and numbers.min() >= 0
            and self.ends[-1] == len(self.entries) > 0
            and self.entries.min() >= 0
            and self.entries.max() < vocab_size
            and np.array_equal(self.order if exact else np.sort(self.order), np.arange(vocab_size))
        )
        if not valid:
            raise ValueError(
                "The ends must ascend to the number of entries, the entries must be target ids, "
                "and the order must have all target ids once, ascending if the table is exact. "
                f"Received: {len(self.ends)} ends, {len(self.entries)} entries, "
                f"{vocab_size} ids in order."
            )

    def most(self, length: int) -> int:
        """Returns the largest number of candidates that a source of `length` ids can have."""
        if not self.exact:
            return self.size
        firsts = np.concatenate([[0], np.cumsum(self.entries >= self.always)])
        numbers = np.diff(firsts[self.ends], prepend=0)  # Entries besides the first ids.
        number = self.always + int(np.sort(numbers)[::-1][:length].sum())
        return min(number + -number % _EXACT_MULTIPLE, len(self.order))

    def save(self, path: str | Path) -> None:
        """Writes the table as a NumPy `.npz` file of the arrays and numbers named here."""
        content = io.BytesIO()
        arrays = {name: getattr(self, name) for name in (*_ARRAYS, "always", "size")}
        version = _EXACT_FORMAT if self.exact else _FORMAT
        np.savez_compressed(content, format=version, vocabularies=self.vocabularies, **arrays)
        with replacing(path) as temporary:
            Path(temporary).write_bytes(content.getbuffer())

    @classmethod
    def load(cls, path: str | Path) -> "Shortlist":
        """Reads a file that `save` wrote.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file holds something else, is damaged, or has a newer format.
        """
        check_file(path)
        try:
            with Archive(path, "A shortlist is an .npz file.") as archive:
                version = int(archive.array("format"))
                if version in (_FORMAT, _EXACT_FORMAT):
                    ends, entries, order = map(archive.array, _ARRAYS)
                    source, target = map(str, archive.array("vocabularies"))
                    return cls(
                        ends,
                        entries,
                        order,
                        int(archive.array("always")),
                        int(archive.array("size")),
                        (source, target),
                        version == _EXACT_FORMAT,
                    )
        except (ValueError, TypeError) as error:
            raise ValueError(
                "The file must hold a shortlist, as `kformer shortlist` writes it. "
                f"Received: path={str(path)!r} ({error})."
            ) from error
        raise ValueError(
            f"The shortlist has a newer format: update kformer. Received: path={str(path)!r}, "
            f"format {version}."
        )

    def check_vocabularies(self, vocabularies: tuple[str, str]):
        """Raises a ValueError unless the digests of a model equal the digests in the table."""
        if self.vocabularies != tuple(vocabularies):
            raise ValueError(
                "A shortlist must have the vocabularies of its translator: learn one with "
                f"`kformer shortlist`. Received: {_short(self.vocabularies)} of the shortlist, "
                f"{_short(vocabularies)} of the translator."
            )


def digest_of(tokenizer_model: bytes) -> str:
    """Returns the SHA-256 digest of a vocabulary's SentencePiece model."""
    return hashlib.sha256(tokenizer_model).hexdigest()


def _short(digests):
    return " and ".join(digest[:12] for digest in digests)


class Selection:
    """Chooses the candidates of each source.

    Every position of a source gives points to the entries of its id: 64 to the first, 32 to the
    second, 21 to the third, and so on. The ids with the most points are candidates; ties are broken
    by `Shortlist.order`. Points are whole numbers, whose sums do not depend on their order, so
    every runtime chooses the same. With an exact shortlist, all ids with points are candidates.

    Args:
        shortlist: `Shortlist`.
        padding_id: The id of a source that gives no points.
        constant: Makes a tensor of an array.
    """

    def __init__(
        self, shortlist: Shortlist, padding_id: int, constant: Callable = ops.convert_to_tensor
    ):
        self._shortlist, self._padding_id, self._constant = shortlist, padding_id, constant
        rank = np.arange(shortlist.longest, dtype=np.int32)
        self._rank, self._points = rank, np.maximum(_FIRST // (rank + 1), 1).astype(np.float32)
        self._first = shortlist.ends - np.diff(shortlist.ends, prepend=np.int32(0))
        vocab_size = len(shortlist.order)
        fits = vocab_size <= 2 * _HALF  # Then entries take two bytes each.
        self._entries = (shortlist.entries - _HALF).astype(np.int16 if fits else np.int32)
        if len(self._entries) % 2:  # A `.tflite` file cannot hold an odd number of two bytes each.
            self._entries = np.append(self._entries, self._entries[-1])
        self._before = np.empty(vocab_size, np.float32)  # Each id's score before any points.
        self._before[shortlist.order] = np.arange(vocab_size, 0, -1) / (vocab_size + 1)
        self._before[shortlist.order[: shortlist.always]] += _ALWAYS

    def __call__(self, source: Any) -> Any:
        """Returns the candidates: int32 (B, N), each once in its row but for the padding id.

        An exact shortlist bounds their number by the length of the source. Where it has no static
        length, and for batches and for sources whose candidates may be over a quarter of the
        vocabulary, it returns which ids are candidates, bool (B, V).

        Args:
            source: int32 tensor (B, S).
        """
        scores, shortlist = self._scores(source), self._shortlist
        if not shortlist.exact:
            return ops.cast(ops.top_k(scores, shortlist.size)[1], "int32")
        batch, length = source.shape
        size = len(shortlist.order) if length is None else shortlist.most(length)
        if batch != 1 or size * _GATHERED_SHARE > len(shortlist.order):
            return _filled(scores >= 1)
        highest, candidates = ops.top_k(scores, size)
        number = ops.sum(ops.cast(highest >= 1, "int32"), axis=-1, keepdims=True)  # (B, 1)
        number = number + _missing(number)
        place = np.arange(size, dtype=np.int32)
        return ops.where(place < number, ops.cast(candidates, "int32"), self._padding_id)

    def _scores(self, source):
        """Returns the points of all ids, float (B, V), under 1 for ids without an entry."""
        constant, batch = self._constant, ops.shape(source)[0]
        first = gather(constant(self._first), source)  # (B, S)
        number = gather(constant(self._shortlist.ends), source) - first
        number = ops.where(ops.equal(source, self._padding_id), 0, number)
        index = ops.expand_dims(first, -1) + self._rank  # (B, S, R)
        ids = gather(constant(self._entries), ops.minimum(index, len(self._entries) - 1))
        ids = ops.cast(ids, "int32") + _HALF
        points = ops.where(self._rank < ops.expand_dims(number, -1), self._points, 0.0)
        vocab_size = len(self._before)
        row = ops.arange(batch, dtype="int32") * vocab_size
        places = ops.reshape(ids + ops.reshape(row, (-1, 1, 1)), (-1, 1))
        sums = ops.scatter(places, ops.reshape(points, (-1,)), (batch * vocab_size,))
        return ops.reshape(sums, (-1, vocab_size)) + constant(self._before)


def _filled(is_candidate):
    """Returns bool (B, V) with the first other ids, up to a multiple of 8 candidates."""
    excluded = 1 - ops.cast(is_candidate, "int32")
    number = is_candidate.shape[1] - ops.sum(excluded, axis=-1, keepdims=True)
    rank = ops.cumsum(excluded, axis=-1)  # From 1, at each id that is no candidate.
    return ops.logical_or(is_candidate, rank <= _missing(number))


def _missing(number):
    """Returns how many candidates are missing to a multiple of 8."""
    return ops.mod(_EXACT_MULTIPLE - ops.mod(number, _EXACT_MULTIPLE), _EXACT_MULTIPLE)
