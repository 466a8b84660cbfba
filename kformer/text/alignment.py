"""Word alignments: which words of a text and of its translation belong together.

A link (i, j) joins word i of the source and word j of the target, counted from 0. Spaces separate
words.

Axes: S source length, T target length, in pieces; N source words, M target words.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kformer.text.paragraphs.joining import SPACE

_BYTES = re.compile(r"(?:<0x[0-9A-F]{2}>)+")  # Pieces of single bytes.
_NO_DIGITS = re.compile("<0x|>")
_LINK = re.compile(r"(\d+)([-p?])(\d+)")


class AlignmentHead(NamedTuple):
    """The decoder head, or layer, whose attention aligns words.

    Attributes:
        layer: Number of a decoder layer, from 1.
        head: Number of a head, from 1; None for the mean of all heads.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.alignment_head = kformer.AlignmentHead(layer=2, head=1)
        >>> translator.alignment_head
        AlignmentHead(layer=2, head=1)
    """

    layer: int
    head: int | None = None

    def __str__(self):
        return (
            f"layer {self.layer}, {'mean of heads' if self.head is None else f'head {self.head}'}"
        )


class WordAlignment(NamedTuple):
    """The words of a text and of its translation, and the links between them.

    Attributes:
        source, target: N and M words, as the tokenizer reads them.
        links: Sorted list of pairs of places, in `source` and in `target`.
        agreement: Number of links that are also links of the opposite direction, from source to
            target.
        weights: float array (M, N), the attention of each target word to each source word.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> [alignment] = translator.align(["Ein Hund läuft."], ["A dog runs."])
        >>> alignment.source, alignment.target
        (('Ein', 'Hund', 'läuft.'), ('A', 'dog', 'runs.'))
        >>> alignment.links
        [(0, 0), (1, 1), (2, 2)]
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: list[tuple[int, int]]
    agreement: int
    weights: np.ndarray

    def __str__(self):
        """Writes the links in the format of Pharaoh: "0-0 1-2"."""
        return " ".join(f"{i}-{j}" for i, j in self.links)


class GoldLinks(NamedTuple):
    """Links by hand: the sure ones, and all possible ones, which include the sure ones.

    Examples:
        >>> import kformer
        >>> gold = kformer.GoldLinks(sure=frozenset({(0, 0)}), possible=frozenset({(0, 0), (1, 1)}))
        >>> kformer.alignment_error_rate([[(0, 0), (1, 1)]], [gold])
        0.0
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def align_words(
    attention: np.ndarray, source_pieces: Sequence[str], target_pieces: Sequence[str]
) -> WordAlignment:
    """Links each target word to the source word with the most of its attention.

    The attention of a target word is the mean over its pieces; attention to a source word is the
    sum over its pieces.

    Args:
        attention: float array (T, S), of each target piece to each source piece.
    """
    source, source_words = _words(source_pieces)
    target, target_words = _words(target_pieces)
    if not source or not target:
        return WordAlignment(source, target, [], 0, np.zeros((len(target), len(source))))
    to_words = np.zeros((len(target_pieces), len(source)))
    np.add.at(to_words.T, source_words, attention.T)
    weights = np.zeros((len(target), len(source)))  # (M, N)
    np.add.at(weights, target_words, to_words)
    weights /= np.bincount(target_words)[:, None]
    forward, backward = weights.argmax(axis=1), weights.argmax(axis=0)
    links = sorted((int(i), j) for j, i in enumerate(forward))
    agreement = sum(int(backward[i]) == j for i, j in links)
    return WordAlignment(source, target, links, agreement, weights)


def _words(pieces):
    """Returns the words that pieces spell, and for each piece the place of its word."""
    places, words = [], []
    for piece in pieces:
        if piece.startswith(SPACE) or not words:
            words.append("")
        words[-1] += piece
        places.append(len(words) - 1)
    return tuple(_text(word) for word in words), places


def _text(pieces):
    """Returns the text of a word's pieces, single bytes among them."""
    spelled = _BYTES.sub(
        lambda match: bytes.fromhex(_NO_DIGITS.sub("", match[0])).decode("utf-8", "replace"),
        pieces,
    )
    return spelled.replace(SPACE, "")


def read_gold(lines: Iterable[str], name: str) -> list[GoldLinks]:
    """Reads links by hand, one sentence a line: "0-0 1-2 2?3 3p4"."""
    gold = []
    for number, line in enumerate(lines, start=1):
        pairs = {}
        for link in line.split():
            if (match := _LINK.fullmatch(link)) is None:
                raise ValueError(
                    "A link must be two numbers with - between them, or with ? if it is only "
                    f"possible, such as 0-0 or 1?2. Received: {link!r} in {name!r}, line {number}."
                )
            pairs[int(match[1]), int(match[3])] = match[2]
        sure = frozenset(pair for pair, kind in pairs.items() if kind == "-")
        gold.append(GoldLinks(sure, frozenset(pairs)))
    return gold


def check_gold(alignments: Iterable[WordAlignment], gold: Iterable[GoldLinks]):
    """Raises ValueError if links by hand join words that a text does not have."""
    for number, (alignment, by_hand) in enumerate(zip(alignments, gold, strict=True), start=1):
        words = len(alignment.source), len(alignment.target)
        for i, j in sorted(by_hand.possible):
            if i >= words[0] or j >= words[1]:
                raise ValueError(
                    "A link must join words that there are, counted from 0. Received: "
                    f"{i}-{j} for line {number}, which has {words[0]} and {words[1]} words."
                )


def alignment_error_rate(
    alignments: Iterable[Iterable[tuple[int, int]]], gold: Iterable[GoldLinks]
) -> float:
    """Returns the alignment error rate, from 0 to 1: the lower, the better.

    1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), for links A, sure links S and possible links P of all
    sentences ([Och and Ney, 2003](https://aclanthology.org/J03-1002), section 6).

    Raises:
        ValueError: There are neither links nor sure links by hand.

    Examples:
        >>> import kformer
        >>> gold = kformer.GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))
        >>> kformer.alignment_error_rate([[(0, 0), (1, 1)]], [gold])
        0.0
        >>> kformer.alignment_error_rate([[(0, 0), (1, 0)]], [gold])
        0.5
    """
    right = total = 0
    for links, by_hand in zip(alignments, gold, strict=True):
        links = {*links}
        right += len(links & by_hand.sure) + len(links & by_hand.possible)
        total += len(links) + len(by_hand.sure)
    if not total:
        raise ValueError("An error rate needs links. Received: none.")
    return 1 - right / total
