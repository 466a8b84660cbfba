"""The report on labelled text before training: counts, and warnings with advice."""

import dataclasses

import numpy as np

from kformer.text.text_files import read_lines
from kformer.text.tokenizer import Tokenizer
from kformer.training.data.batching import shapes_and_padding
from kformer.training.data.corpus_report import SideReport, shape_lines, share
from kformer.training.data.dropped_pairs import REASONS
from kformer.training.data.preflight import side_report
from kformer.training.data.windows import sum_of
from kformer.training.kinds.baselines import Baselines, baselines
from kformer.training.kinds.classification_task import ClassificationTask
from kformer.training.run.training_task import TextOfRun

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
        texts, rarest = sum(self.counts.values()), min(self.counts, key=self.counts.__getitem__)
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
        most = sorted(self.counts, key=self.counts.__getitem__, reverse=True)[:_SHOWN]
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


def labelled_report(
    task: ClassificationTask, tokenizer: Tokenizer, text: TextOfRun, vocabulary: str = "learned"
) -> LabelledReport:
    """Returns the report on labelled text, in bounded memory."""
    training, total = task.training, text.training.statistics
    shapes, padding = shapes_and_padding(text.training.batching, total.batches, 2 * total.tokens[0])
    reasons = dict(zip(REASONS, total.reasons.tolist(), strict=True))
    valid = None
    if text.validation:
        valid = sum_of([windows.statistics for windows in text.validation])
    pairs, distinct = len(total.hashes), len(np.unique(total.hashes))
    texts = (hash(line) for path in training.texts for line in read_lines(path) if line.strip())
    longest, file, line = total.longest[0]
    place = f"{task.files['train'][file]}, text {line}"
    return LabelledReport(
        counts=training.counts,
        blank=reasons["blank"],
        cut=reasons["too_long"],
        duplicates=pairs - distinct,
        contradictions=max(0, distinct - len(np.unique(np.fromiter(texts, np.int64)))),
        text=side_report(tokenizer, total.pieces[0], longest, place),
        batches=int(total.batches.sum()),
        tokens=int(total.tokens[0]),
        shapes=shapes,
        padding=padding,
        validation=int(valid.reasons.sum()) if valid else 0,
        seen=int(np.isin(valid.hashes, total.hashes).sum()) if valid else 0,
        vocabulary=vocabulary,
        baselines=baselines(training, task.validation, tokenizer.model) if valid else None,
    )
