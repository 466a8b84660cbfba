"""Reads a parallel corpus once before training: reports on it, and counts the dropped pairs."""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import BatchOptions, shapes_and_padding
from kformer.training.data.corpus_report import CorpusReport, SideReport, ValidationReport
from kformer.training.data.dropped_pairs import REASONS, DroppedPairs, PairFilter
from kformer.training.data.mixture import Mixture, longer_side
from kformer.training.data.pairs import check_parallel
from kformer.training.data.respelling import BYTE, SPACE
from kformer.training.data.translation_dataset import translation_windows
from kformer.training.data.windows import Windows, sum_of

_UNSPACED = (
    "CJK",
    "IDEOGRAPHIC",
    "HIRAGANA",
    "KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
)


def check_corpus(
    source: str | Path | Sequence[str | Path],
    target: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    valid_source: str | Path | Sequence[str | Path] | None = None,
    valid_target: str | Path | Sequence[str | Path] | None = None,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    fixed_shapes: bool | None = None,
    vocabulary: str = "learned",
) -> CorpusReport:
    """Reads a corpus once, in bounded memory, and reports on it as training text.

    Duplicates are found among the first 16 million pairs, which takes 8 bytes per pair.

    Args:
        source, target: A path or a list of paths each. Arguments not described here are as
            for `translation_dataset`.
        valid_source, valid_target: The same, of the validation text.
        vocabulary: Origin of the tokenizers, for advice on a vocabulary that does not fit:
            "learned" from this text, "all" the ids that this text supports, or "given", learned
            from other text.

    Raises:
        FileNotFoundError, ValueError: As for `check_parallel`; or an argument is out of range.

    Examples:
        >>> import kformer
        >>> from kformer.training import check_corpus
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> report = check_corpus("test.de", "test.en", tokenizer)
        >>> report.pairs, report.warnings()
        (500, [])
    """
    options = BatchOptions(
        tokens_per_batch,
        max_length,
        piece_splitting,
        byte_spelling,
        fixed_shapes,
        max_length_ratio=max_length_ratio,
        weights=weights,
        temperature=temperature,
    )
    tokenizers = tokenizer, target_tokenizer or tokenizer
    training = translation_windows(as_list(source), as_list(target), tokenizers, options)
    validation = []
    if valid_source:
        valid_target = valid_target or []
        check_parallel(valid_source, valid_target)
        pairs = zip(as_list(valid_source), as_list(valid_target), strict=True)
        options = options.for_validation()
        validation = [translation_windows([s], [t], tokenizers, options) for s, t in pairs]
    return corpus_report(training, validation, tokenizers, vocabulary)


def corpus_report(
    training: Windows,
    validation: Sequence[Windows],
    tokenizers: Sequence[Tokenizer],
    vocabulary: str = "learned",
    names: Mapping[str, str] | None = None,
) -> CorpusReport:
    """Returns the report on windows of parallel text; reads text whose statistics are missing."""
    total = training.statistics
    pieces, longest = total.pieces, total.longest
    files = training.mixture.files
    places = [
        _place(files[corpus][side], line, names or {})
        for side, (_, corpus, line) in enumerate(longest)
    ]
    sides = [side_report(tokenizers[i], pieces[i], longest[i][0], places[i]) for i in range(2)]
    source_tokens, target_tokens = total.tokens.tolist()
    shapes, padding = shapes_and_padding(training.batching, total.batches, total.tokens.sum())
    return CorpusReport(
        pairs=int(total.reasons.sum()),
        source=sides[0],
        target=sides[1],
        dropped=DroppedPairs(*total.reasons.tolist()),
        identical=int(total.identical),
        duplicates=len(total.hashes) - len(np.unique(total.hashes)),
        batches=int(total.batches.sum()),
        shapes=shapes,
        padding=padding,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        validation=_validation(validation, tokenizers, total) if validation else None,
        vocabulary=vocabulary,
    )


def _place(file, line, names):
    """Returns where a sentence is, in words."""
    return f"pair {line} of {names[file]}" if file in names else f"{file}, line {line}"


def count_dropped_pairs(
    source_files: str | Path | Sequence[str | Path],
    target_files: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer,
    target_tokenizer: Tokenizer | None = None,
    *,
    max_length: int = 128,
    max_length_ratio: float | None = None,
) -> DroppedPairs:
    """Counts the pairs that `translation_dataset` keeps and drops with these arguments.

    Examples:
        >>> import kformer
        >>> from kformer.training import count_dropped_pairs
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> count_dropped_pairs("test.de", "test.en", tokenizer, max_length=12).too_long
        226
    """
    filter_pairs = PairFilter(max_length, max_length_ratio)

    def count(source, target, _):
        lengths = (
            side.with_end(side.tokenize(text)).row_lengths()
            for side, text in ((tokenizer, source), (target_tokenizer or tokenizer, target))
        )
        too_long = longer_side(source, target) > filter_pairs.most_bytes
        lengths = [tf.cast(length, tf.int32) for length in lengths]
        reasons = filter_pairs(*lengths, too_long, library=tf)
        return np.bincount(reasons, minlength=len(REASONS))

    mixture = Mixture(source_files, target_files, longest=filter_pairs.most_bytes + 1)
    counts = sum(count(*window) for window in mixture.eager_windows())
    return DroppedPairs(**dict(zip(REASONS, counts.tolist(), strict=True)))


def side_report(
    tokenizer: Tokenizer, counts: np.ndarray, longest: int, longest_at: str
) -> SideReport:
    """Returns the report of a side, from fields of `Statistics`."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    special = {tokenizer.padding_id, tokenizer.start_id, tokenizer.end_id} | tokenizer.symbol_ids
    lengths = [0 if i in special else _characters(piece) for i, piece in enumerate(pieces)]
    lengths[tokenizer.unknown_id] = 1

    def number(matches):
        return int(counts[[matches(piece) for piece in pieces]].sum())

    return SideReport(
        pieces=int(counts.sum()),
        words=number(lambda piece: piece.startswith(SPACE)),
        characters=int(np.dot(counts, lengths)),
        word_pieces=number(lambda piece: False in _scripts(piece)),
        unspaced_pieces=number(lambda piece: _scripts(piece) == {True}),
        unknown=int(counts[tokenizer.unknown_id]),
        byte_pieces=number(lambda piece: BYTE.fullmatch(piece) is not None),
        longest=longest,
        longest_at=longest_at,
    )


def _characters(piece):
    """Returns how many characters a piece spells, without spaces; 1 for the first byte of one."""
    if BYTE.fullmatch(piece):
        return int(not 0x80 <= int(piece[3:5], 16) < 0xC0)
    return len(piece.replace(SPACE, ""))


def _scripts(piece):
    """Returns of the letters of a piece whether their scripts do without spaces."""
    if BYTE.fullmatch(piece):
        return set()
    names = (unicodedata.name(letter, "") for letter in piece if letter.isalpha())
    return {name.startswith(_UNSPACED) for name in names}


def _validation(validation, tokenizers, training):
    """Compares the validation text with the statistics of the training text."""

    def likeness(pieces, other_pieces):
        """Returns the overlap of two distributions of pieces, from 0 to 1."""
        return float(
            np.minimum(*(count / max(1, count.sum()) for count in (pieces, other_pieces))).sum()
        )

    straight = crossed = sum_of([windows.statistics for windows in validation])
    if tokenizers[0] is not tokenizers[1]:
        crossed = sum_of(
            [windows.with_sides(tokenizers[::-1]).statistics for windows in validation]
        )
    return ValidationReport(
        pairs=int(straight.reasons.sum()),
        seen=int(np.isin(straight.hashes, training.hashes).sum()),
        like=float(np.mean([*map(likeness, straight.pieces, training.pieces)])),
        like_swapped=float(np.mean([*map(likeness, crossed.pieces, training.pieces[::-1])])),
    )
