"""What is in a parallel corpus, in plain words, before the first step is taken."""

import dataclasses
import unicodedata

import numpy as np

from kformer.training.data.batching import Batching
from kformer.training.data.byte_fallback import BYTE, SPACE
from kformer.training.data.dropped_pairs import DroppedPairs
from kformer.training.data.mixture import Mixture
from kformer.training.data.pair_filter import PairFilter
from kformer.training.data.text_files import as_list, check_parallel
from kformer.training.data.text_statistics import read_statistics, sum_of

_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
_NEW_VOCABULARY = (
    "learn one from this text (--new-vocabulary with --warm-start, else no --tokenizer)"
)


@dataclasses.dataclass(frozen=True)
class SideReport:
    """The source or the target of a corpus, in the pieces of its tokenizer.

    Attributes:
        pieces: Number of pieces, without end ids.
        words: Number of words.
        word_pieces: Pieces with letters of a script that has spaces between its words.
        unknown: Pieces that are the unknown id.
        byte_pieces: Pieces that spell a byte of a character which no piece covers.
        longest: Ids of the longest sentence, its end id included.
        longest_at: Its file and line, "FILE, line N".
    """

    pieces: int
    words: int
    word_pieces: int
    unknown: int
    byte_pieces: int
    longest: int
    longest_at: str


@dataclasses.dataclass(frozen=True)
class ValidationReport:
    """The text to validate with, compared with that to train on.

    Attributes:
        pairs: Number of pairs.
        seen: How many of them are training pairs, too.
        like: Share of the pieces that each side has in common with its side of the training text.
        like_swapped: The same, each side compared with the other side of the training text.
    """

    pairs: int
    seen: int
    like: float
    like_swapped: float


@dataclasses.dataclass(frozen=True)
class CorpusReport:
    """What `check_corpus` found.

    Attributes:
        pairs: Lines of the source files, and of the target files.
        source, target: `SideReport` of each side.
        dropped: `DroppedPairs`.
        identical: Pairs with the same text on both sides, blank ones not counted.
        duplicates: Pairs that stood before in the text.
        batches, source_tokens, target_tokens: Of a pass; with several corpora about so many.
        validation: `ValidationReport`, or None without validation text.
        vocabulary: Where the vocabulary is from; see `check_corpus`.
    """

    pairs: int
    source: SideReport
    target: SideReport
    dropped: DroppedPairs
    identical: int
    duplicates: int
    batches: int
    source_tokens: int
    target_tokens: int
    validation: ValidationReport | None
    vocabulary: str

    def warnings(self) -> list[str]:
        """Says what looks wrong, and what to do about it; nothing if all looks well."""
        return [text for holds, text in self._suspicions() if holds]

    def _suspicions(self):
        text = self.pairs - self.dropped.blank
        yield (
            3 * self.identical > text,
            f"{_share(self.identical, text)} of the pairs have the same text on both sides: "
            "check that the target files are translations and not copies of the source files.",
        )
        if valid := self.validation:
            yield (
                valid.like_swapped > valid.like,
                "The validation files look swapped: their source reads like the training target. "
                "Exchange --valid-source and --valid-target, or --source and --target.",
            )
            yield (
                100 * valid.seen > valid.pairs,
                f"{_share(valid.seen, valid.pairs)} of the validation pairs are training pairs, "
                "too, so that scores will look better than they are: take them out.",
            )
        yield (
            10 * self.duplicates > self.pairs,
            f"{_share(self.duplicates, self.pairs)} of the pairs stood before in the text: "
            "`sort -u` on the pasted files makes a pass shorter.",
        )
        spelled = any(4 * side.byte_pieces > side.pieces for side in (self.source, self.target))
        yield (
            20 * self.dropped.too_long > self.pairs,
            f"{_share(self.dropped.too_long, self.pairs)} of the pairs are too long"
            + (
                ", spelled in bytes as they are."
                if spelled
                else ": raise --max-length, or split their lines into sentences."
            ),
        )
        yield (
            5 * self.dropped.unlike_lengths > self.pairs,
            f"{_share(self.dropped.unlike_lengths, self.pairs)} of the pairs are unlike in length: "
            "check that the files belong together line by line, or raise the ratio.",
        )
        for name, side in (("source", self.source), ("target", self.target)):
            yield (
                1000 * side.unknown > side.pieces,
                f"{_share(side.unknown, side.pieces)} of the {name}'s pieces are unknown: use a "
                f"vocabulary with byte fallback; {_NEW_VOCABULARY}.",
            )
            yield (
                50 * side.byte_pieces > side.pieces,
                f"{_share(side.byte_pieces, side.pieces)} of the {name}'s pieces spell single "
                "bytes of characters that the vocabulary lacks: "
                + (
                    f"{_NEW_VOCABULARY}."
                    if self.vocabulary == "given"
                    else "check the text for characters that do not belong there."
                ),
            )
            # A text that has all the ids it supports needs more text for longer pieces.
            yield (
                self.vocabulary != "all"
                and side.pieces > 4 * side.words
                and 2 * side.word_pieces > side.pieces,
                f"A word of the {name} takes {_ratio(side.pieces, side.words)} pieces: "
                + (f"{_NEW_VOCABULARY}." if self.vocabulary == "given" else "raise --vocab-size."),
            )

    def lines(self) -> list[str]:
        """The report in plain words, the warnings last."""
        dropped = self.dropped
        found = [
            f"{self.pairs:,} pairs; {dropped.kept:,} are used. Not used: {dropped.blank:,} with a "
            f"blank side, {dropped.too_long:,} too long, {dropped.unlike_lengths:,} of unlike "
            "lengths.",
            f"{self.duplicates:,} pairs are duplicates; {self.identical:,} have the same text on "
            "both sides.",
        ]
        for name, side in (("Source", self.source), ("Target", self.target)):
            found.append(
                f"{name}: {_ratio(side.pieces, side.words)} pieces per word, "
                f"{_share(side.unknown, side.pieces)} unknown, "
                f"{_share(side.byte_pieces, side.pieces)} spelled in bytes; the longest sentence "
                f"has {side.longest:,} ids ({side.longest_at})."
            )
        if valid := self.validation:
            found.append(
                f"Validation: {valid.pairs:,} pairs, {valid.seen:,} of them also in the training "
                "text."
            )
        found.append(f"An epoch: {self.batches:,} batches, {self.target_tokens:,} target tokens.")
        return [*found, *(f"Warning: {text}" for text in self.warnings())]

    def __str__(self):
        return "\n".join(self.lines())


def check_corpus(
    source,
    target,
    tokenizer,
    target_tokenizer=None,
    *,
    valid_source=None,
    valid_target=None,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    max_length_ratio: float | None = None,
    weights: list[float] | None = None,
    temperature: float | None = None,
    vocabulary: str = "learned",
) -> CorpusReport:
    """Reads a corpus once, in bounded memory, and reports what training would meet in it.

    Only the first 16 million pairs are compared with each other, 8 bytes for each.

    Args:
        source, target: A path or a list of paths each, as for `translation_dataset`; so are all
            others.
        valid_source, valid_target: The same, of the text to validate with.
        vocabulary: Where the tokenizers are from, for what to do about a bad fit: "learned" from
            this text, "all" that this text supports, or "given", learned from other text.

    Raises:
        FileNotFoundError, ValueError: See `check_parallel`; or an option makes no sense.
    """
    source, target = as_list(source), as_list(target)
    weights = Mixture(source, target, weights, temperature).weights
    tokenizers = tokenizer, target_tokenizer or tokenizer
    limits = PairFilter(max_length, max_length_ratio), Batching(tokens_per_batch, max_length)
    parts = [
        read_statistics(*pair, tokenizers, *limits) for pair in zip(source, target, strict=True)
    ]
    total = sum_of(*parts)
    of_pass = np.dot(weights, [(part.batches, *part.tokens) for part in parts])
    validation = None
    if valid_source:
        valid_files = as_list(valid_source), as_list(valid_target)
        validation = _validation(*valid_files, tokenizers, limits, total)
    return CorpusReport(
        pairs=int(total.reasons.sum()),
        source=_side(tokenizers[0], total.pieces[0], *total.longest[0]),
        target=_side(tokenizers[1], total.pieces[1], *total.longest[1]),
        dropped=DroppedPairs(*total.reasons.tolist()),
        identical=int(total.identical),
        duplicates=len(total.hashes) - len(np.unique(total.hashes)),
        batches=round(of_pass[0]),
        source_tokens=round(of_pass[1]),
        target_tokens=round(of_pass[2]),
        validation=validation,
        vocabulary=vocabulary,
    )


def _side(tokenizer, counts, longest, longest_at):
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    return SideReport(
        pieces=int(counts.sum()),
        words=int(counts[[piece.startswith(SPACE) for piece in pieces]].sum()),
        word_pieces=int(counts[[_is_of_a_word(piece) for piece in pieces]].sum()),
        unknown=int(counts[tokenizer.unknown_id]),
        byte_pieces=int(counts[[BYTE.fullmatch(piece) is not None for piece in pieces]].sum()),
        longest=longest,
        longest_at=longest_at,
    )


def _is_of_a_word(piece):
    letters = [character for character in piece if character.isalpha()]
    return BYTE.fullmatch(piece) is None and any(
        not unicodedata.name(letter, "").startswith(_UNSPACED) for letter in letters
    )


def _validation(source_files, target_files, tokenizers, limits, training):
    """Compares the validation text with the statistics of the training text."""

    def read(tokenizers):
        files = zip(source_files, target_files, strict=True)
        return sum_of(*(read_statistics(*pair, tokenizers, *limits) for pair in files))

    def likeness(pieces, others):
        """The share that two distributions of pieces have in common."""
        return float(np.minimum(*(count / max(1, count.sum()) for count in (pieces, others))).sum())

    check_parallel(source_files, target_files)
    straight, crossed = read(tokenizers), read(tokenizers[::-1])
    return ValidationReport(
        pairs=int(straight.reasons.sum()),
        seen=int(np.isin(straight.hashes, training.hashes).sum()),
        like=float(np.mean([*map(likeness, straight.pieces, training.pieces)])),
        like_swapped=float(np.mean([*map(likeness, crossed.pieces, training.pieces[::-1])])),
    )


def _share(part, whole):
    percent = 100 * part / max(1, whole)
    return f"{percent:.2g} %" if 0 < percent < 9.5 else f"{percent:.0f} %"


def _ratio(part, whole):
    return f"{part / max(1, whole):.2f}"
