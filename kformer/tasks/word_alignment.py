"""Aligns the words of texts and of their translations by the attention of a translator.

Which layer and head align best differs from model to model, and is found by measuring all of them.
"""

import collections
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kformer.arguments import as_texts, check_as_many, check_integer
from kformer.decoding.search_options import EXTRA_LENGTH
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
    """How well a head aligns a text.

    Attributes:
        head: `AlignmentHead`.
        agreement: Share of its links that both directions have, from 0 to 1.
        error_rate: Its alignment error rate; None without links by hand.
    """

    head: AlignmentHead
    agreement: float
    error_rate: float | None


class Alignable(NamedTuple):
    """Sources and translations as rows of ids, end ids included."""

    sources: list[list[int]]
    targets: list[list[int]]


def read_pairs(translator, sources, targets) -> Alignable:
    """Returns the rows of texts and of their translations; warns of those that are cut."""
    sources, targets = as_texts(sources, "sources"), as_texts(targets, "targets")
    check_as_many(sources=sources, targets=targets)
    most = translator.max_source_length
    read = read_texts(translator.tokenizer, sources, most, "Source of sentence", "aligned", 5)
    said = read_texts(
        *(translator.target_tokenizer, targets, most + EXTRA_LENGTH),
        *("Target of sentence", "aligned", 5),
    )
    return Alignable(read.ids, said.ids)


def check_head(translator, head) -> AlignmentHead | None:
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
    translator, likelihood, pairs: Alignable, head, progress: Callable | None
) -> list[WordAlignment]:
    """Returns the `WordAlignment` of each pair; see `kformer.Translator.align`.

    `likelihood` is the translator's `BatchLikelihood`.
    """
    known = likelihood(pairs.sources, pairs.targets, progress, **index_of(head))
    return [
        _aligned(translator, one.attention, source, target)
        for one, source, target in zip(known, *pairs, strict=True)
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
    translator,
    likelihood,
    pairs: Alignable,
    gold: list[GoldLinks] | None,
    progress: Callable | None,
) -> list[HeadScore]:
    """Returns the score of each head, best first; see `Translator.choose_alignment_head`."""
    if gold is not None:
        pieces = zip(*pairs, strict=True)
        nowhere = ((np.zeros((len(said), len(read))), read, said) for read, said in pieces)
        check_gold([_aligned(translator, *one) for one in nowhere], gold)
    links, agreements = collections.defaultdict(dict), collections.Counter()
    for i, attention in likelihood.attention(*pairs, progress):  # (L, H, T, S)
        source, target = pairs.sources[i], pairs.targets[i]
        for head, weights in _heads(attention):
            found = _aligned(translator, weights, source, target)
            links[head][i] = found.links
            agreements[head] += found.agreement
    scores = []
    for head, of_pair in links.items():
        number = sum(map(len, of_pair.values()))
        if not number:
            raise ValueError("Heads are compared on text. Received: blank pairs only.")
        rate = None
        if gold is not None:
            of_all = [of_pair.get(i, []) for i in range(len(pairs.sources))]
            rate = alignment_error_rate(of_all, gold)
        scores.append(HeadScore(head, agreements[head] / number, rate))
    return sorted(scores, key=_badness)


def _badness(score: HeadScore) -> Any:
    return (-score.agreement if score.error_rate is None else score.error_rate), score.head.layer


def _heads(attention):
    """Yields the `AlignmentHead`s of a model, and the attention of each, (T, S)."""
    for layer, of_layer in enumerate(attention, start=1):
        yield AlignmentHead(layer), np.mean(of_layer, axis=0)
        for head, weights in enumerate(of_layer, start=1):
            yield AlignmentHead(layer, head), weights
