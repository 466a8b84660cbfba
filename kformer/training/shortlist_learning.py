"""A translator's shortlist from parallel text: the likely target ids of each source id.

IBM model 1 learns how likely each target id is a translation of each source id
([Brown et al., 1993](https://aclanthology.org/J93-2003/), section 4.1), as
`kformer.training.data.lexicon` has it. The end id of a source has the role of the paper's empty
word: it explains target ids that no other id explains.

Axes: E entries (pairs of a source id and a target id), U source vocabulary.
"""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kformer.arguments import check_integer
from kformer.decoding.shortlist import Shortlist
from kformer.inference.search_options import SHORTLIST_SIZE
from kformer.kinds import TRANSLATOR
from kformer.tasks.translator import Translator
from kformer.text.long_lines import is_too_long
from kformer.text.text_files import as_list, read_lines
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.lexicon import ITERATIONS, Lexicon, SentenceIds, learn_lexicon
from kformer.training.data.pairs import check_parallel

MOST = 100  # Entries of a source id.
_MIN_PROBABILITY = 1e-3  # Less likely ids are noise; a more frequent id is better.


def entries_of(
    lexicon: Lexicon, copies: Iterable[tuple[int, int]], vocab_size: int, most: int = MOST
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the `ends` and the `entries` of a `kformer.Shortlist`.

    Args:
        copies: Pairs of a source id and the target id of the same piece. Such an entry comes first,
            as names and numbers are copied, also those that the text did not have.

    Returns:
        ends: int32 (U,).
        entries: int32 (E,).
    """
    copies = np.array([*copies], np.int64).reshape(-1, 2)
    likely = lexicon.probabilities >= _MIN_PROBABILITY
    sources = np.concatenate([copies[:, 0], lexicon.sources[likely]])
    targets = np.concatenate([copies[:, 1], lexicon.targets[likely]])
    order = np.concatenate([np.full(len(copies), -2.0), -lexicon.probabilities[likely]])
    _, first = np.unique(np.stack([sources, targets]), axis=1, return_index=True)
    sources, targets, order = sources[first], targets[first], order[first]
    best = np.lexsort((targets, order, sources))
    sources, targets = sources[best], targets[best]
    rank = np.arange(len(sources)) - np.searchsorted(sources, sources)
    kept = rank < most
    ends = np.cumsum(np.bincount(sources[kept], minlength=vocab_size))
    return ends.astype(np.int32), targets[kept].astype(np.int32)


_LINES = 4096  # Split at once.


def learn_shortlist(
    translator: Translator,
    source: str | Path | Iterable[str | Path],
    target: str | Path | Iterable[str | Path],
    size: int = SHORTLIST_SIZE,
    progress: Callable[[int], object] | None = None,
) -> Shortlist:
    """Learns from parallel text which target ids are likely for each source id, by IBM model 1.

    Args:
        translator: `kformer.Translator`, whose vocabularies the text is split into.
        source: A path or a list of paths of text, one sentence a line; best the text that the
            translator was trained on.
        target: The same of its translation.
        size: Number of candidates of a source; with more, fewer good ids are missing, and each step
            takes longer. A vocabulary of fewer ids is wholly candidates.
        progress: Called with the number of pairs of sentences done, in each of five iterations.

    Returns:
        `kformer.Shortlist`, to be set as `shortlist` of the translator.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: An argument has the wrong type.
        ValueError: The files differ in lines, a file is empty or not UTF-8, no pair of sentences is
            within the translator's limit, or `size` is out of range.

    Examples:
        >>> import kformer
        >>> from kformer.training import learn_shortlist
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> translator.shortlist = learn_shortlist(translator, "test.de", "test.en", size=200)
        >>> translator.shortlist.size
        200
    """
    TRANSLATOR.check("translator", translator)
    tokenizers = translator.tokenizer, translator.target_tokenizer
    always = _special_ids(tokenizers[1])
    check_integer("size", size, least=len(always))
    check_parallel(source, target)
    sources, targets = _rows(translator, as_list(source), as_list(target))
    lexicon = learn_lexicon(sources, targets, progress=progress)
    vocab_size = tokenizers[1].vocab_size
    ends, entries = entries_of(lexicon, _copies(*tokenizers), tokenizers[0].vocab_size)
    counts = np.bincount(targets.ids, minlength=vocab_size)
    counts[always] = counts.max() + 1
    order = np.argsort(-counts, kind="stable").astype(np.int32)
    return Shortlist(
        ends,
        entries,
        order,
        len(always),
        min(size, vocab_size),
        vocabularies=translator.vocabularies,
    )


def number_of_pairs(source: Any, target: Any) -> int:
    """Returns how often `learn_shortlist` counts a pair, for a progress bar; raises its errors."""
    return ITERATIONS * check_parallel(source, target)


def _special_ids(tokenizer):
    ids = tokenizer.padding_id, tokenizer.unknown_id, tokenizer.start_id, tokenizer.end_id
    return sorted({i for i in ids if i >= 0})  # A model may lack one.


def _copies(source, target):
    """Yields pairs of ids of the same piece, but for special ones."""
    ids = {piece: i for i, piece in enumerate(target.pieces(range(target.vocab_size)))}
    special = {*_special_ids(source), *(ids[p] for p in target.pieces(_special_ids(target)))}
    for i, piece in enumerate(source.pieces(range(source.vocab_size))):
        if piece in ids and not {i, ids[piece]} & special:
            yield i, ids[piece]


def _rows(translator, source, target):
    """Returns the `SentenceIds` of both sides, without pairs over the limit of the translator.

    Such pairs are seldom translations of each other, and would count more than all others.
    """
    sides = [], []
    most = PairFilter(translator.max_source_length).most_bytes
    lines = (
        ("" if is_too_long(line, most) else line for file in files for line in read_lines(file))
        for files in (source, target)
    )
    pairs = zip(*lines, strict=True)
    while chunk := list(itertools.islice(pairs, _LINES)):
        texts = zip(*chunk, strict=True)
        split = [
            tokenizer.with_end(tokenizer.tokenize([*side]))
            for tokenizer, side in zip(
                (translator.tokenizer, translator.target_tokenizer), texts, strict=True
            )
        ]
        lengths = np.stack([side.row_lengths().numpy() for side in split])  # (2, lines)
        whole = ((lengths > 1) & (lengths <= translator.max_source_length)).all(axis=0)
        for rows, side, row_lengths in zip(sides, split, lengths, strict=True):
            rows.append(
                (side.flat_values.numpy()[np.repeat(whole, row_lengths)], row_lengths[whole])
            )
    rows = [SentenceIds(*map(np.concatenate, zip(*side, strict=True))) for side in sides]
    if not len(rows[0].lengths):
        raise ValueError(
            "A shortlist is learnt from pairs of sentences that are not blank and within "
            f"{translator.max_source_length} ids. Received: none in {source!r}."
        )
    return rows
