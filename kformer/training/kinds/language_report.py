"""The report on plain text before training: counts, and warnings with advice."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kformer.text.documents import BLANK_LINE, FILE, LINE
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.corpus_report import SideReport, share
from kformer.training.data.dropped_pairs import REASONS
from kformer.training.data.preflight import side_report
from kformer.training.data.windows import Windows, sum_of

_WHAT = {  # Documents are.
    LINE: "",
    BLANK_LINE: ", separated by blank lines",
    FILE: ", each a file",
}
_ADVICE = {  # On documents that repeat, and on documents that are too long.
    LINE: ("`sort -u` the file", ", or put a paragraph on each line"),
    BLANK_LINE: ("take them out", ""),
    FILE: ("take them out", ""),
}


@dataclasses.dataclass(frozen=True)
class TextReport:
    """Counts of plain text.

    Attributes:
        documents: Number of documents.
        blank: Number of blank lines, which are dropped.
        split: Number of documents of more than `max_length` ids, which begin in one row and go on
            in another.
        duplicates: Number of documents that repeat an earlier one.
        text: `SideReport`.
        tokens: Ids per pass, with the end id of each document.
        batches, row_length: Batches per pass, and ids of a row.
        validation, seen: Number of validation documents, and how many of them are also training
            documents.
        vocabulary: Origin of the vocabulary, as for `check_corpus`.
        kind: Kind of a document, one of `kformer.text.documents.DOCUMENTS`.
    """

    documents: int
    blank: int
    split: int
    duplicates: int
    text: SideReport
    tokens: int
    batches: int
    row_length: int
    validation: int
    seen: int
    vocabulary: str
    kind: str = LINE

    def warnings(self) -> list[str]:
        """Returns a sentence for each problem, with advice."""
        possible = [
            (
                10 * self.duplicates > self.documents,
                f"{share(self.duplicates, self.documents)} of the documents repeat an earlier one: "
                f"{_ADVICE[self.kind][0]}, or the model learns these by heart.",
            ),
            (
                5 * self.split > self.documents and self.kind != FILE,
                f"{share(self.split, self.documents)} of the documents are longer than a row, so "
                f"that the model sees parts of them: raise --max-length{_ADVICE[self.kind][1]}.",
            ),
            (
                100 * self.seen > self.validation,
                f"{share(self.seen, self.validation)} of the validation documents are training "
                "documents, too, so that the perplexity will look better than it is: take them "
                "out.",
            ),
            *self.text.problems("text", self.vocabulary),
        ]
        return [text for holds, text in possible if holds]

    def lines(self) -> list[str]:
        """Returns the lines of the report, the warnings last."""
        report_lines = [
            f"{self.documents:,} documents{_WHAT[self.kind]}, {self.split:,} of them longer than a "
            "row." + f" Not used: {self.blank:,} blank lines." * (self.kind == LINE),
            f"{self.duplicates:,} documents are duplicates.",
            f"Text: {self.text}",
        ]
        if self.validation:
            report_lines.append(
                f"Validation: {self.validation:,} documents, {self.seen:,} of them also in the "
                "training text."
            )
        rows = -(-self.tokens // self.row_length)
        report_lines.append(
            f"An epoch: {self.tokens:,} tokens, in {rows:,} rows of {self.row_length} ids without "
            "padding."
        )
        return [*report_lines, *(f"Warning: {text}" for text in self.warnings())]

    def __str__(self):
        return "\n".join(self.lines())


def text_report(
    training: Windows,
    validation: Sequence[Windows],
    tokenizer: Tokenizer,
    vocabulary: str = "learned",
    kind: str = LINE,
) -> TextReport:
    """Returns the report on plain text."""
    total = training.statistics
    reasons = dict(zip(REASONS, total.reasons.tolist(), strict=True))
    valid = sum_of([windows.statistics for windows in validation]) if validation else None
    longest, file, number = total.longest[0]
    place = f"file {number}"
    if kind != FILE:
        unit = "line" if kind == LINE else "document"
        place = f"{training.mixture.names[file]}, {unit} {number}"
    return TextReport(
        documents=int(total.reasons.sum()) - reasons["blank"],
        blank=reasons["blank"],
        split=reasons["too_long"],
        duplicates=len(total.hashes) - len(np.unique(total.hashes)),
        text=side_report(tokenizer, total.pieces[0], longest, place),
        tokens=int(total.tokens[0]),
        batches=int(total.batches.sum()),
        row_length=training.max_length,
        validation=int(valid.reasons.sum()) if valid else 0,
        seen=int(np.isin(valid.hashes, total.hashes).sum()) if valid else 0,
        vocabulary=vocabulary,
        kind=kind,
    )
