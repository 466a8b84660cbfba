"""From parallel text and a translator to its shortlist."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from kformer.arguments import check_integer
from kformer.decoding.options import SHORTLIST_SIZE
from kformer.decoding.shortlist.table import Shortlist
from kformer.tasks.translator import Translator, check_is_translator
from kformer.text.long_lines import is_too_long
from kformer.text.text_files import as_list, read_lines
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.parallel_files import check_parallel
from kformer.training.shortlist.entries import entries_of
from kformer.training.shortlist.ibm1 import ITERATIONS, Rows, learn_lexicon

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
        source: A path or a list of paths of text, one sentence a line; best that which the
            translator was trained on.
        target: Those of its translation.
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
    """
    check_is_translator("translator", translator)
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
        *(ends, entries, order, len(always), min(size, vocab_size)),
        vocabularies=translator.vocabularies,
    )


def number_of_pairs(source, target) -> int:
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
    """Returns the `Rows` of both sides; pairs with a side over the translator's limit are left out.

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
        for rows, side, of_rows in zip(sides, split, lengths, strict=True):
            rows.append((side.flat_values.numpy()[np.repeat(whole, of_rows)], of_rows[whole]))
    rows = [Rows(*map(np.concatenate, zip(*side, strict=True))) for side in sides]
    if not len(rows[0].lengths):
        raise ValueError(
            "A shortlist is learnt from pairs of sentences that are not blank and within "
            f"{translator.max_source_length} ids. Received: none in {source!r}."
        )
    return rows
