"""The report on a parallel corpus: counts, and warnings with advice."""

import dataclasses

from kformer.training.data.dropped_pairs import DroppedPairs

_NEW_VOCABULARY = (
    "learn one from this text (--new-vocabulary with --warm-start, else no --tokenizer)"
)


@dataclasses.dataclass(frozen=True)
class SideReport:
    """Counts of the source or the target of a corpus, in pieces of its tokenizer.

    Attributes:
        pieces: Number of pieces, without end ids.
        words: Number of words, as far as spaces separate them.
        characters: Number of characters, without spaces.
        word_pieces: Pieces with letters of a script that separates words by spaces.
        unspaced_pieces: Pieces with letters of a script without spaces, such as Japanese, alone.
        unknown: Number of unknown ids.
        byte_pieces: Pieces that are single bytes of characters without a piece of their own.
        longest: Ids of the longest sentence, its end id included.
        longest_at: Its place, "FILE, line N".
    """

    pieces: int
    words: int
    characters: int
    word_pieces: int
    unspaced_pieces: int
    unknown: int
    byte_pieces: int
    longest: int
    longest_at: str

    def __str__(self):
        unit, units = "word", self.words
        if self.unspaced_pieces > self.word_pieces:  # Its "words" would be sentences.
            unit, units = "character", self.characters
        return (
            f"{_ratio(self.pieces, units)} pieces per {unit}, "
            f"{share(self.unknown, self.pieces)} unknown, "
            f"{share(self.byte_pieces, self.pieces)} spelled in bytes; the longest sentence has "
            f"{self.longest:,} ids ({self.longest_at})."
        )

    def problems(self, name: str, vocabulary: str):
        """Yields whether there is a problem, and the sentence about it."""
        yield (
            1000 * self.unknown > self.pieces,
            f"{share(self.unknown, self.pieces)} of the {name}'s pieces are unknown: use a "
            f"vocabulary with byte fallback; {_NEW_VOCABULARY}.",
        )
        yield (
            50 * self.byte_pieces > self.pieces,
            f"{share(self.byte_pieces, self.pieces)} of the {name}'s pieces spell single bytes of "
            "characters that the vocabulary lacks: "
            + (
                f"{_NEW_VOCABULARY}."
                if vocabulary == "given"
                else "check the text for characters that do not belong there."
            ),
        )
        # Only more text gives longer pieces if the text supports no more ids.
        yield (
            vocabulary != "all"
            and self.pieces > 4 * self.words
            and 2 * self.word_pieces > self.pieces,
            f"A word of the {name} takes {_ratio(self.pieces, self.words)} pieces: "
            + (f"{_NEW_VOCABULARY}." if vocabulary == "given" else "raise --vocab-size."),
        )


@dataclasses.dataclass(frozen=True)
class ValidationReport:
    """The validation text, compared with the training text.

    Attributes:
        pairs: Number of pairs.
        seen: Number of pairs that are also training pairs.
        like: Overlap of the piece frequencies of each side with its side of the training text.
        like_swapped: The same overlap with the other side of the training text.
    """

    pairs: int
    seen: int
    like: float
    like_swapped: float


@dataclasses.dataclass(frozen=True)
class CorpusReport:
    """The result of `check_corpus`.

    Attributes:
        pairs: Number of lines of the source files.
        source, target: `SideReport` of each side.
        dropped: `DroppedPairs`.
        identical: Pairs with the same text on both sides, without blank ones.
        duplicates: Pairs that repeat an earlier pair.
        batches, source_tokens, target_tokens: Numbers per pass; estimates for several corpora.
        shapes, padding: Number of shapes of batches and share of padding in their ids; 0 without
            `fixed_shapes` of `translation_dataset`.
        validation: `ValidationReport`; None without validation text.
        vocabulary: Origin of the vocabulary, as for `check_corpus`.

    Examples:
        >>> import kformer
        >>> from kformer.training import check_corpus
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> report = check_corpus("test.de", "test.en", tokenizer)
        >>> report.pairs, report.dropped.kept, report.duplicates, report.warnings()
        (500, 500, 0, [])
    """

    pairs: int
    source: SideReport
    target: SideReport
    dropped: DroppedPairs
    identical: int
    duplicates: int
    batches: int
    shapes: int
    padding: float
    source_tokens: int
    target_tokens: int
    validation: ValidationReport | None
    vocabulary: str

    def warnings(self) -> list[str]:
        """Returns a sentence for each problem, with advice."""
        possible = [*self._problems_of_pairs(), *self._problems_of_sides()]
        return [text for holds, text in possible if holds]

    def _problems_of_pairs(self):
        """Yields whether there is a problem, and the sentence about it."""
        text = self.pairs - self.dropped.blank
        yield (
            3 * self.identical > text,
            f"{share(self.identical, text)} of the pairs have the same text on both sides: "
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
                f"{share(valid.seen, valid.pairs)} of the validation pairs are training pairs, "
                "too, so that scores will look better than they are: take them out.",
            )
        yield (
            10 * self.duplicates > self.pairs,
            f"{share(self.duplicates, self.pairs)} of the pairs repeat an earlier pair: "
            "`paste` the files and `sort -u` them, so that a pass is shorter.",
        )
        spelled = any(4 * side.byte_pieces > side.pieces for side in (self.source, self.target))
        yield (
            20 * self.dropped.too_long > self.pairs,
            f"{share(self.dropped.too_long, self.pairs)} of the pairs are too long"
            + (
                ", spelled in bytes as they are."
                if spelled
                else ": raise --max-length, or split their lines into sentences."
            ),
        )
        yield (
            5 * self.dropped.unlike_lengths > self.pairs,
            f"{share(self.dropped.unlike_lengths, self.pairs)} of the pairs are unlike in length: "
            "check that the files belong together line by line, or raise the ratio.",
        )

    def _problems_of_sides(self):
        """Yields whether there is a problem, and the sentence about it."""
        for name, side in (("source", self.source), ("target", self.target)):
            yield from side.problems(name, self.vocabulary)

    def lines(self) -> list[str]:
        """Returns the lines of the report, the warnings last."""
        dropped = self.dropped
        report = [
            f"{self.pairs:,} pairs; {dropped.kept:,} are used. Not used: {dropped.blank:,} with a "
            f"blank side, {dropped.too_long:,} too long, {dropped.unlike_lengths:,} of unlike "
            "lengths.",
            f"{self.duplicates:,} pairs are duplicates; {self.identical:,} have the same text on "
            "both sides.",
        ]
        for name, side in (("Source", self.source), ("Target", self.target)):
            report.append(f"{name}: {side}")
        if valid := self.validation:
            report.append(
                f"Validation: {valid.pairs:,} pairs, {valid.seen:,} of them also in the training "
                "text."
            )
        report.append(f"An epoch: {self.batches:,} batches, {self.target_tokens:,} target tokens.")
        report += shape_lines(self.shapes, self.padding)
        return [*report, *(f"Warning: {text}" for text in self.warnings())]

    def __str__(self):
        return "\n".join(self.lines())


def shape_lines(shapes: int, padding: float) -> list[str]:
    """Returns the line of a report on fixed shapes, if there are any."""
    cost = f"{share(round(1000 * padding), 1000)} of their ids are padding"
    return [f"Batches have {shapes} shapes, each compiled once; {cost}."] if shapes else []


def share(part: int, whole: int) -> str:
    """Returns a share in per cent, with two digits if it is small."""
    percent = 100 * part / max(1, whole)
    return f"{percent:.2g} %" if 0 < percent < 9.5 else f"{percent:.0f} %"


def _ratio(part, whole):
    return f"{part / max(1, whole):.2f}"
