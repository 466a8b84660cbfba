"""Verification: exported forms are compared with Python on held-out sentences."""

import copy
import hashlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kformer.export.byte_codec.segment import are_tied
from kformer.export.verify.agreement import check_vectors
from kformer.inference.quality_estimate import Doubt
from kformer.kinds import known_kind
from kformer.model.network import is_float32
from kformer.tasks.search_defaults import export_options


class Report(NamedTuple):
    """Result of one form of a model on the held-out sentences.

    Examples:
        >>> import kformer
        >>> from kformer.export import Verifier
        >>> verifier = Verifier(kformer.load("runs/de-en/translator.keras"), ["Ein Hund läuft."])
        >>> report = verifier.verify_pocket(".tflite", kformer.load("de-en.tflite"), "de-en.tflite")
        >>> report.form, report.equal, report.total
        ('.tflite', 1, 1)
    """

    form: str
    bytes: int
    bleu: float | None  # None without references, and for other models than translators.
    total: int  # Sentences compared with Python.
    equal: int
    ties: int  # Different where Python itself is undecided about a token, or the label.
    different: int = 0  # Different otherwise, which is an error unless weights are rounded.
    tokenizer_ties: int = 0  # Different, as Python's answer to equally probable ids of the text.
    accuracy: float | None = None  # Share of right labels; None without references.
    signature: str | None = None  # sacreBLEU's signature; None without BLEU.
    doubt: Doubt | None = None  # How right its flag "unsure" is; None without quality estimates.
    bleu_without_shortlist: float | None = None  # Of Python; None without a shortlist.


class Verifier:
    """Runs held-out sentences through Python, then through other forms, and compares.

    Args:
        model: `kformer.Translator`, `kformer.TextClassifier`, `kformer.TextTagger` or
            `kformer.LanguageModel`, the one to be exported.
        texts: Sentences to translate or to classify, or prompts.
        references: Their translations, for BLEU, or their labels, for accuracy; or None.
        beam_size, length_penalty: As the exports have them.
        tokenize: Tokenizer of BLEU, as for `kformer.bleu`; None for the tokenizer of the
            translator's `target_language`.

    Attributes:
        options: `kformer.SearchOptions` of the exports.
        answers: An object of the class that `Kind.verification` names.
        reports: list of `Report`: of Python, and of each form that was compared.

    Examples:
        >>> import kformer
        >>> from kformer.export import Verifier
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> verifier = Verifier(translator, ["Ein Hund läuft."], references=["A dog runs."])
        >>> _ = verifier.verify_pocket(".tflite", kformer.load("de-en.tflite"), "de-en.tflite")
        >>> [(report.form, report.equal) for report in verifier.reports]
        [('Python', 1), ('.tflite', 1)]
    """

    def __init__(
        self,
        model: Any,
        texts: Sequence[str],
        references: Sequence[str] | None = None,
        beam_size: int | None = None,
        length_penalty: float | None = None,
        tokenize: str | None = None,
    ):
        self.options = options = export_options(model, beam_size, length_penalty)
        if not is_float32(model.network):
            model = model.copy()  # As all exports compute.
        verification = known_kind(model).part("verification")
        self.model, self.answers = model, verification(model, options, references, tokenize)
        self.texts = list(texts)
        self.references = references
        self.expected = self.answers.python_answers(self.texts)
        count, figures = len(self.texts), self.answers.figures(self.expected)
        self.reports = [Report("Python", 0, total=count, equal=count, ties=0, **figures)]

    def verify(
        self,
        form: str,
        model: Any,
        path: str | Path,
        max_source_length: int | None = None,
        exact: bool = True,
        max_source_bytes: int | None = None,
        tokenize: Callable | None = None,
    ) -> Report:
        """Compares the answers of `model`, read from `path`, without sentences over its limits.

        Args:
            exact: Whether a different answer is an error; False for rounded weights.
            tokenize: Its tokenizer, str -> (ids, whether they are all), if it is not
                tensorflow-text but the codec of `kformer.export.byte_codec`.

        Raises:
            ValueError: A sentence differs, and Python was not undecided about it.
        """
        got = self.answers.answers(model, self.texts)
        rows = self.answers.for_text(self.model, 0).tokenizer.tokenize(self.texts)
        rows = rows.row_lengths().numpy()
        compared = [
            i
            for i, count in enumerate(rows)
            if (not max_source_length or count < max_source_length)
            and (not max_source_bytes or len(self.texts[i].encode("utf-8")) <= max_source_bytes)
        ]
        differ = [i for i in compared if not self.answers.equal(self.expected[i], got[i], exact)]
        tied: list[int] = []
        ties: list[int] = []
        wrong: list[int] = []
        for i in differ:
            rows = self.answers.for_text(self.model, i).source_rows([self.texts[i]])
            own = tokenize and self._tied(self.texts[i], rows, tokenize)
            explained = own and self.answers.gives(own, got[i], exact)
            explained = explained or self.answers.gives(own or rows, got[i], exact, noisy=True)
            (wrong if not explained else tied if own else ties).append(i)
        if wrong and exact:
            i = wrong[0]
            raise ValueError(
                f"An export must answer as Python does. Received: {len(wrong)} of {len(compared)} "
                f"sentences otherwise from the {form}, the first of them {self.texts[i]!r}: "
                f"{self.answers.shown(got[i])}, but from Python "
                f"{self.answers.shown(self.expected[i])}."
            )
        report = Report(
            form,
            _size(path),
            total=len(compared),
            equal=len(compared) - len(differ),
            ties=len(ties),
            different=len(wrong),
            tokenizer_ties=len(tied),
            **self.answers.figures(got),
        )
        self.reports.append(report)
        return report

    def verify_pocket(self, form: str, pocket: Any, path: str | Path, exact: bool = True) -> Report:
        """Compares a class of `kformer.pocket` like `verify`; if `exact`, its vectors, too."""
        pocket = copy.copy(pocket)
        pocket.bulk_signature = None  # Apps tokenize in the graph.
        length, room = (pocket.manifest[f"max_source_{unit}"] for unit in ("length", "bytes"))
        first = self.answers.for_text(pocket, 0)
        report = self.verify(form, pocket, path, length, exact, room, first.tokenize)
        if exact:
            check_vectors(self.answers.for_text(self.model, 0), first, self.texts)
        return report

    def verify_served(self, served: Any, path: str | Path) -> dict:
        """Compares a served model like `verify`, and its other signatures; returns a report.

        The report has no sentences, but their checksum.
        """
        report = self.verify("SavedModel", served, path)
        python, measure, quality = self.reports[0], self.answers.measure, {}
        if measure:
            quality = {
                measure: getattr(report, measure),
                f"{measure}_of_python": getattr(python, measure),
            }
        if report.signature:
            quality[f"{measure}_signature"] = report.signature
        if report.bleu_without_shortlist is not None:
            quality["bleu_without_shortlist"] = report.bleu_without_shortlist
        if report.doubt:
            quality["unsure"] = report.doubt.figures()
        with warnings.catch_warnings(
            action="ignore"
        ):  # Sentences over the limit were warned of before.
            other_signatures = self.answers.compare_signatures(
                served, self.texts[: served.max_batch_size]
            )
        text = "\n".join(self.texts).encode("utf-8")
        return {
            "sentences": report.total,
            "sentences_sha256": hashlib.sha256(text).hexdigest(),
            "equal": report.equal,
            "ties": report.ties,
            **quality,
            "other_signatures": other_signatures,
        }

    def _tied(self, text, rows, tokenize):
        """Returns the form's rows of ids if they differ from Python's only by rounding, or None."""
        ids, whole = tokenize(text)
        language = rows[0][: self.model.tokenizer.prefix_length(rows[0])]
        ids = [*language, *ids[len(language) :]]
        tied = whole and ids != rows[0] and are_tied(self.model.tokenizer, rows[0], ids)
        return [ids] if tied else None


def _size(path):
    path = Path(path)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
