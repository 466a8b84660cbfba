"""Verification: what was exported says what Python says."""

import hashlib
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

from kformer.decoding.search_ids import make_search, search_ids
from kformer.decoding.sequential import sequential
from kformer.decoding.step import DecoderStep
from kformer.export.tflite.byte_codec.ties import are_tied
from kformer.export.verify.agreement import TIE, agreement, check_vectors
from kformer.model.networks.copying import is_float32
from kformer.tasks.translator import check_is_translator
from kformer.text.scores import bleu

_COPIES = 64  # Of a sentence, each with noise of its own; a tie goes either way in some of them.


class Report(NamedTuple):
    """What one form of a translator did with the held-out sentences."""

    form: str
    bytes: int
    sentences_per_second: float
    bleu: float | None  # None without references.
    total: int  # Sentences compared with Python.
    equal: int
    ties: int  # Differ, at a token where Python itself is undecided.
    others: int = 0  # Differ otherwise, as only rounded weights may.
    tokens_per_second: float = 0.0  # Ids of the translations, without ends.
    tokenizer_ties: int = 0  # Differ, as Python does for other ids of the text that score the same.


class Verifier:
    """Runs held-out sentences through Python, then through other forms, and compares.

    Args:
        translator: `kformer.Translator`, the one to be exported.
        texts: Sentences to translate.
        references: Their translations, for BLEU; or None.
        beam_size, length_penalty: As the exports have them.
    """

    def __init__(
        self, translator, texts, references=None, beam_size: int = 1, length_penalty: float = 0.6
    ):
        check_is_translator("translator", translator)
        if not is_float32(translator.transformer):
            translator = translator.copy()  # As all exports compute.
        self.translator = translator
        self.texts = list(texts)
        self.references = references
        self.settings = (beam_size, length_penalty)
        search = make_search(translator.target_tokenizer, beam_size, length_penalty)
        transformer = translator.transformer
        self._found = _ids_found(transformer, search)
        self._found_with_noise = _ids_found(transformer, search, NoisyStep)
        self.expected, speed = _timed(
            lambda texts: translator.translate(texts, beam_size, length_penalty), self.texts
        )
        score = self._bleu(self.expected)
        self.reports = [Report("Python", 0, speed, score, len(self.texts), len(self.texts), 0)]

    def verify(
        self,
        form: str,
        model,
        path,
        max_source_length=None,
        exact=True,
        max_source_bytes=None,
        tokenize=None,
    ) -> Report:
        """Compares what `model`, read from `path`, says; sentences over its limits are left out.

        Args:
            exact: Whether it must say what Python says. A model of rounded weights need not.
            tokenize: How it splits a text, str -> (ids, whether they are all), if not by
                tensorflow-text; see `kformer.export.tflite.byte_codec.ties`.

        Raises:
            ValueError: A sentence differs, and Python was not undecided about it.
        """
        got, speed = _timed(model.translate, self.texts)
        rows = self.translator.tokenizer.tokenize(self.texts).row_lengths().numpy()
        compared = [
            i
            for i, count in enumerate(rows)
            if (not max_source_length or count < max_source_length)
            and (not max_source_bytes or len(self.texts[i].encode("utf-8")) <= max_source_bytes)
        ]
        differ = [i for i in compared if got[i] != self.expected[i]]
        tied, ties, wrong = [], [], []
        for i in differ:
            rows = self.translator.source_rows([self.texts[i]])
            own = tokenize and self._tied(self.texts[i], rows, tokenize)
            said = own and self._says(own, got[i])
            said = said or self._says(own or rows, got[i], noisy=True)
            (wrong if not said else tied if own else ties).append(i)
        if wrong and exact:
            i = wrong[0]
            raise ValueError(
                f"An export must say what Python says. Received: {len(wrong)} of {len(compared)} "
                f"sentences otherwise from the {form}, the first of them {self.texts[i]!r}: "
                f"{got[i]!r}, where Python says {self.expected[i]!r}."
            )
        equal = len(compared) - len(differ)
        tokens = self.translator.target_tokenizer.tokenize(got).row_lengths().numpy().mean()
        report = Report(
            form,
            _size(path),
            speed,
            self._bleu(got),
            len(compared),
            equal,
            len(ties),
            len(wrong),
            speed * float(tokens),
            len(tied),
        )
        self.reports.append(report)
        return report

    def verify_pocket(self, form, pocket, path, exact=True) -> Report:
        """As `verify`, of a `PocketTranslator`, and its vectors if it must be exact."""
        length, room = (pocket.manifest[f"max_source_{unit}"] for unit in ("length", "bytes"))
        report = self.verify(form, pocket, path, length, exact, room, pocket.tokenize)
        if exact:
            check_vectors(self.translator, pocket, self.texts)
        return report

    def verify_served(self, served, path) -> dict:
        """As `verify`, of a `ServedTranslator`, and the other signatures; returns it for a report.

        Sentences themselves are not in it, but what tells whether they are the same.
        """
        report = self.verify("SavedModel", served, path)
        _, length_penalty = self.settings
        n_best = served.signatures["beam"].structured_outputs["score"].shape[1]
        with warnings.catch_warnings(action="ignore"):  # Of sentences over the limit, a third time.
            others = agreement(
                self.translator,
                served.signatures,
                self.texts[: served.max_batch_size],
                n_best,
                length_penalty,
            )
        text = "\n".join(self.texts).encode("utf-8")
        return {
            "sentences": report.total,
            "sentences_sha256": hashlib.sha256(text).hexdigest(),
            "equal": report.equal,
            "ties": report.ties,
            "bleu": report.bleu,
            "bleu_of_python": self.reports[0].bleu,
            "sentences_per_second": round(report.sentences_per_second, 1),
            "other_signatures": others,
        }

    def _bleu(self, translations):
        return bleu(translations, self.references).value if self.references else None

    def _tied(self, text, rows, tokenize):
        """The form's own rows of ids, if Python has others for no better reason than rounding."""
        ids, whole = tokenize(text)
        tied = whole and ids != rows[0] and are_tied(self.translator.tokenizer, rows[0], ids)
        return [ids] if tied else None

    def _says(self, rows, other, noisy=False) -> bool:
        """Whether Python says `other` of these ids, or does with noise below `TIE`."""
        if noisy:
            ids = self._found_with_noise(tf.constant(rows * _COPIES))
        else:
            ids = self._found(tf.constant(rows))
        return other.encode("utf-8") in self.translator.target_tokenizer.detokenize(ids).numpy()


def _ids_found(transformer, search, step_class=DecoderStep):
    """Returns the function from `source`, int32 (B, S), to the best ids of each row, (B, T)."""
    return sequential(
        lambda source: search_ids(transformer, source, search, step_class=step_class).ids[:, 0],
        [tf.TensorSpec([None, None], tf.int32)],
    )


class NoisyStep(DecoderStep):
    """The real step, whose logits are off by less than half of `TIE`; other noise each time."""

    def __call__(self, ids, position, visible, cache):
        output = super().__call__(ids, position, visible, cache)
        noise = tf.random.stateless_uniform(
            tf.shape(output.logits), (0, position), -TIE / 2, TIE / 2
        )
        return output._replace(logits=output.logits + noise)


def _timed(translate, texts):
    """Returns the translations and the sentences per second, once warm."""
    translate(texts[:1])
    start = time.perf_counter()
    translations = translate(texts)
    return translations, len(texts) / (time.perf_counter() - start)


def _size(path):
    path = Path(path)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
