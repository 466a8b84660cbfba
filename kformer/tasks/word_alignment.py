"""Aligns the words of texts and of their translations by the attention of a translator.

The layer and head that align best differ from model to model; measuring all of them finds the best.
"""

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kformer.arguments import as_texts, check_as_many, check_integer
from kformer.decoding.scoring import BatchLikelihood
from kformer.inference.search_options import EXTRA_LENGTH
from kformer.text.alignment import (
    AlignmentHead,
    GoldLinks,
    WordAlignment,
    align_words,
    alignment_error_rate,
    check_gold,
)
from kformer.text.text_rows import read_texts


class HeadScore(NamedTuple):
    """The quality of a head's word alignments of a text.

    Attributes:
        head: `AlignmentHead`.
        agreement: Share of its links that both directions have, from 0 to 1.
        error_rate: Its alignment error rate; None without links by hand.

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> scores = translator.choose_alignment_head(["Ein Hund läuft."], ["A dog runs."])
        >>> scores[0].head == translator.alignment_head, len(scores)
        (True, 10)
    """

    head: AlignmentHead
    agreement: float
    error_rate: float | None


class Alignable(NamedTuple):
    """Sources and translations as rows of ids, end ids included."""

    sources: list[list[int]]
    targets: list[list[int]]


def read_pairs(translator: Any, sources: Iterable[str], targets: Iterable[str]) -> Alignable:
    """Returns the rows of texts and of their translations; warns of texts that are cut."""
    sources, targets = as_texts(sources, "sources"), as_texts(targets, "targets")
    check_as_many(sources=sources, targets=targets)
    most = translator.max_source_length
    source = read_texts(translator.tokenizer, sources, most, "Source of sentence", "aligned")
    target = read_texts(
        translator.target_tokenizer,
        targets,
        most + EXTRA_LENGTH,
        "Target of sentence",
        "aligned",
    )
    return Alignable(source.ids, target.ids)


def check_head(translator: Any, head: Any) -> AlignmentHead | None:
    """Returns `head` as an `AlignmentHead`; refuses one that the model does not have."""
    if head is None:
        return None
    layer, number = head
    _check("layer", layer, translator.transformer.decoder.num_layers)
    if number is not None:
        _check("head", number, translator.transformer.num_heads)
    return AlignmentHead(layer, number)


def _check(name, value, most):
    check_integer(name, value)
    if not 1 <= value <= most:
        raise ValueError(f"The decoder has {name}s 1 to {most}. Received: {name}={value}.")


def index_of(head: AlignmentHead | None) -> dict:
    """Returns the arguments of `kformer.decoding.scoring.likelihood` for a head."""
    if head is None:  # The mean of the last layer.
        return {}
    return {"layer": head.layer - 1, "head": None if head.head is None else head.head - 1}


def align(
    translator: Any,
    likelihood: Callable,
    pairs: Alignable,
    head: AlignmentHead | None,
    progress: Callable | None,
) -> list[WordAlignment]:
    """Returns the `WordAlignment` of each pair, for `kformer.Translator.align`.

    `likelihood` is the translator's `BatchLikelihood`.
    """
    scores = likelihood(pairs.sources, pairs.targets, progress, **index_of(head))
    return [
        _aligned(translator, target_scores.attention, source, target)
        for target_scores, source, target in zip(scores, *pairs, strict=True)
    ]


def _aligned(translator, attention, source, target):
    """Aligns the words of a pair, without the end ids and the prefix."""
    skipped = translator.tokenizer.prefix_length(source)
    return align_words(
        attention[:-1, skipped:-1],
        translator.tokenizer.pieces(source[skipped:-1]),
        translator.target_tokenizer.pieces(target[:-1]),
    )


def score_heads(
    translator: Any,
    likelihood: BatchLikelihood,
    pairs: Alignable,
    gold: Sequence[GoldLinks] | None,
    progress: Callable | None,
) -> list[HeadScore]:
    """Returns the score of each head, best first, for `Translator.choose_alignment_head`."""
    if gold is not None:
        unlinked = [
            _aligned(translator, np.zeros((len(target), len(source))), source, target)
            for source, target in zip(*pairs, strict=True)
        ]
        check_gold(unlinked, gold)
    links: dict[AlignmentHead, dict] = collections.defaultdict(dict)
    agreements: collections.Counter[AlignmentHead] = collections.Counter()
    # The attention of each pair is float32 (L, H, T, S).
    for i, attention in likelihood.attention(pairs.sources, pairs.targets, progress):
        source, target = pairs.sources[i], pairs.targets[i]
        for head, weights in _heads(attention):
            alignment = _aligned(translator, weights, source, target)
            links[head][i] = alignment.links
            agreements[head] += alignment.agreement
    scores = []
    for head, head_links in links.items():
        number = sum(map(len, head_links.values()))
        if not number:
            raise ValueError("Heads are compared on text. Received: blank pairs only.")
        rate = None
        if gold is not None:
            all_links = [head_links.get(i, []) for i in range(len(pairs.sources))]
            rate = alignment_error_rate(all_links, gold)
        scores.append(HeadScore(head, agreements[head] / number, rate))
    return sorted(scores, key=_badness)


def _badness(score: HeadScore) -> Any:
    return (-score.agreement if score.error_rate is None else score.error_rate), score.head.layer


def _heads(attention):
    """Yields the `AlignmentHead`s of a model, and the attention of each, (T, S)."""
    for layer, heads in enumerate(attention, start=1):
        yield AlignmentHead(layer), np.mean(heads, axis=0)
        for head, weights in enumerate(heads, start=1):
            yield AlignmentHead(layer, head), weights
