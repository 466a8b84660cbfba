"""The report on labelled text before training: counts, and warnings with advice."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from kformer.text.text_files import read_lines
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import batching, shapes_and_padding
from kformer.training.data.corpus_report import SideReport, shape_lines, share
from kformer.training.data.dropped_pairs import REASONS, PairFilter
from kformer.training.data.preflight import side_report
from kformer.training.data.text_statistics import read_statistics, sum_of
from kformer.training.kinds.baselines import Baselines, baselines
from kformer.training.kinds.classification_learner import LabelIds
from kformer.training.kinds.labelled_files import split
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.recipe import Recipe, pace_of
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of

_SHOWN = 12  # Labels at most whose numbers are printed.


@dataclasses.dataclass(frozen=True)
class LabelledReport:
    """Counts of labelled text.

    Attributes:
        counts: Number of texts that are not blank, by label.
        blank: Number of blank texts, which are dropped.
        cut: Number of texts of more than `max_length` ids, of which the beginning is kept.
        duplicates: Number of texts that repeat an earlier one with the same label.
        contradictions: The same, with another label.
        text: `SideReport`.
        batches, tokens: Numbers per pass.
        shapes, padding: As for `CorpusReport`.
        validation, seen: Number of validation texts, and how many of them are also training texts.
        vocabulary: Origin of the vocabulary, as for `check_corpus`.
        baselines: `Baselines`; None without validation text.
    """

    counts: dict[str, int]
    blank: int
    cut: int
    duplicates: int
    contradictions: int
    text: SideReport
    batches: int
    tokens: int
    shapes: int
    padding: float
    validation: int
    seen: int
    vocabulary: str
    baselines: Baselines | None

    def warnings(self) -> list[str]:
        """Returns a sentence for each problem, with advice."""
        texts, rarest = sum(self.counts.values()), min(self.counts, key=self.counts.get)
        possible = [
            (
                20 * self.counts[rarest] * len(self.counts) < texts,
                f"Only {share(self.counts[rarest], texts)} of the texts have the label "
                f"{rarest!r}: add some, or look at the macro F1 of `kformer classify evaluate`.",
            ),
            (
                100 * self.contradictions > texts,
                f"{share(self.contradictions, texts)} of the texts repeat one with another label: "
                "at most one of the labels is right.",
            ),
            (
                10 * self.duplicates > texts,
                f"{share(self.duplicates, texts)} of the texts repeat an earlier one with the same "
                "label: `sort -u` the file, so that a pass is shorter.",
            ),
            (
                20 * self.cut > texts,
                f"{share(self.cut, texts)} of the texts are cut: raise --max-length.",
            ),
            (
                100 * self.seen > self.validation,
                f"{share(self.seen, self.validation)} of the validation texts are training texts, "
                "too, so that scores will look better than they are: take them out.",
            ),
            (
                len(self.counts) > max(20, texts / 2),
                f"There are {len(self.counts):,} labels for {texts:,} texts, too many to learn: "
                "--columns tells which column is the label.",
            ),
            *self.text.problems("text", self.vocabulary),
        ]
        return [text for holds, text in possible if holds]

    def lines(self) -> list[str]:
        """Returns the lines of the report, the warnings last."""
        texts = sum(self.counts.values())
        most = sorted(self.counts, key=self.counts.get, reverse=True)[:_SHOWN]
        labels = ", ".join(f"{label} {share(self.counts[label], texts)}" for label in most)
        rest = len(self.counts) - len(most)
        report_lines = [
            f"{texts + self.blank:,} texts; {texts:,} are used, {self.cut:,} of them cut. Not "
            f"used: {self.blank:,} blank.",
            f"{len(self.counts)} labels: {labels}{f' and {rest} others' * bool(rest)}.",
            f"{self.duplicates:,} texts are duplicates; {self.contradictions:,} repeat one with "
            "another label.",
            f"Text: {self.text}",
        ]
        if self.validation:
            report_lines.append(
                f"Validation: {self.validation:,} texts, {self.seen:,} of them also in the "
                "training text."
            )
        if self.baselines:
            report_lines.append(str(self.baselines))
        report_lines.append(f"An epoch: {self.batches:,} batches, {self.tokens:,} tokens.")
        report_lines += shape_lines(self.shapes, self.padding)
        return [*report_lines, *(f"Warning: {text}" for text in self.warnings())]

    def __str__(self):
        return "\n".join(self.lines())


def report(prepared: Prepared) -> str:
    """Describes the text of a `Prepared` run and its cost, and warns of problems."""
    task = prepared.task
    tokenizer, _ = tokenizers_of(prepared)
    recipe = dataclasses.replace(prepared.recipe, vocab_size=tokenizer.vocab_size)
    files = task.files["train"], task.files["valid"]
    labelled = labelled_report(*files, tokenizer, recipe, prepared.origin, task.options.columns)
    cost = training_cost(recipe, labelled.tokens, 0, classes=len(labelled.counts))
    return "\n".join([str(labelled), *cost.lines(), *pace_of(recipe, labelled.batches).lines()])


def labelled_report(
    train: Any,
    valid: Any,
    tokenizer: Tokenizer,
    recipe: Recipe,
    vocabulary: str = "learned",
    columns: Sequence[str] | None = None,
) -> LabelledReport:
    """Reads labelled text once, in bounded memory, and reports on it.

    Args:
        train, valid: Lists of paths; `valid` may be empty.
        tokenizer: `kformer.Tokenizer`.
        recipe: `Recipe`, with the sizes of batches and texts.
        vocabulary: As for `check_corpus`.
        columns: As for `classification_dataset`.
    """
    training = split(train, columns)
    counts = training.counts
    sides = tokenizer, LabelIds([*counts])
    form = batching(
        recipe.tokens_per_batch,
        recipe.max_length,
        piece_splitting=recipe.piece_splitting,
        byte_spelling=recipe.byte_spelling,
    )
    limits = PairFilter(recipe.max_length), form

    def read(files):
        files_split = split(files, columns)
        pairs = zip(files_split.texts, files_split.labels, strict=True)
        return sum_of(*(read_statistics(*pair, sides, *limits, cut=True) for pair in pairs))

    total = read(train)
    shapes, padding = shapes_and_padding(form, total.batches, 2 * total.tokens[0])
    reasons = dict(zip(REASONS, total.reasons.tolist(), strict=True))
    validation = read(valid) if valid else None
    pairs, distinct = len(total.hashes), len(np.unique(total.hashes))
    texts = (hash(text) for file in training.texts for text in read_lines(file) if text.strip())
    longest, place = total.longest[0]
    for file, path in zip(train, training.texts, strict=True):
        place = place.replace(path, file)
    return LabelledReport(
        counts=counts,
        blank=reasons["blank"],
        cut=reasons["too_long"],
        duplicates=pairs - distinct,
        contradictions=max(0, distinct - len(np.unique(np.fromiter(texts, np.int64)))),
        text=side_report(tokenizer, total.pieces[0], longest, place.replace("line", "text")),
        batches=int(total.batches.sum()),
        tokens=int(total.tokens[0]),
        shapes=shapes,
        padding=padding,
        validation=int(validation.reasons.sum()) if validation else 0,
        seen=int(np.isin(validation.hashes, total.hashes).sum()) if validation else 0,
        vocabulary=vocabulary,
        baselines=baselines(training, split(valid, columns), tokenizer.model) if valid else None,
    )
