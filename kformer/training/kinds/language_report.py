"""The report on plain text before training: counts, and warnings with advice."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kformer.text.documents import BLANK_LINE, FILE, LINE
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import Batching
from kformer.training.data.corpus_report import SideReport, share
from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.data.preflight import side_report
from kformer.training.data.text_statistics import statistics_of, sum_of
from kformer.training.kinds.language_learner import document_mixture
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.recipe import Recipe, pace_of
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of

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


def report(prepared: Prepared) -> str:
    """Describes the text of a `Prepared` run and its cost, and warns of problems."""
    tokenizer, _ = tokenizers_of(prepared)
    recipe = dataclasses.replace(prepared.recipe, vocab_size=tokenizer.vocab_size)
    files = prepared.task.files
    documents = prepared.task.options.documents
    text = text_report(
        *(files["text"], files["valid_text"], tokenizer, recipe, prepared.origin, documents)
    )
    cost = training_cost(recipe, text.tokens, text.tokens, one_stack=True)
    return "\n".join([str(text), *cost.lines(), *pace_of(recipe, text.batches).lines()])


def text_report(
    text: Any,
    valid_text: Any,
    tokenizer: Tokenizer,
    recipe: Recipe,
    vocabulary: str = "learned",
    kind: Any = LINE,
) -> TextReport:
    """Reads plain text once, in bounded memory, and reports on it.

    Args:
        text, valid_text: Lists of paths; `valid_text` may be empty.
        tokenizer: `kformer.Tokenizer`.
        recipe: `Recipe`, with the sizes of batches and rows.
        vocabulary, kind: As for `TextReport`.
    """
    sides = tokenizer, _OneIdEach()
    limits = PairFilter(recipe.max_length), Batching(recipe.tokens_per_batch, recipe.max_length)

    def read_group(files):
        unit = "line" if kind == LINE else "document"
        place = "file" if kind == FILE else f"{files[0]}, {unit}"
        mixture = document_mixture(files, kind)
        return statistics_of(mixture, [place] * 2, sides, *limits, cut=True)

    def read(files):
        groups = [files] if kind == FILE else [[file] for file in files]
        return sum_of(*map(read_group, groups))

    total = read(text)
    reasons = dict(zip(REASONS, total.reasons.tolist(), strict=True))
    documents = int(total.reasons.sum()) - reasons["blank"]
    tokens = int(total.pieces[0].sum()) + documents
    rows_of_ids = recipe.tokens_per_batch // recipe.max_length * recipe.max_length  # A batch.
    validation = read(valid_text) if valid_text else None
    return TextReport(
        documents=documents,
        blank=reasons["blank"],
        split=reasons["too_long"],
        duplicates=len(total.hashes) - len(np.unique(total.hashes)),
        text=side_report(tokenizer, total.pieces[0], *total.longest[0]),
        tokens=tokens,
        batches=-(-tokens // rows_of_ids),
        row_length=recipe.max_length,
        validation=int(validation.reasons.sum()) if validation else 0,
        seen=int(np.isin(validation.hashes, total.hashes).sum()) if validation else 0,
        vocabulary=vocabulary,
        kind=kind,
    )


class _OneIdEach:
    """The other side of plain text, where pairs of sides are counted: it costs nothing."""

    vocab_size = 1

    def tokenize(self, text: Any):
        return tf.RaggedTensor.from_tensor(tf.zeros([tf.size(text), 1], tf.int32))
