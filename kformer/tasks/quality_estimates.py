"""Quality estimates of a translator: calibrated on held-out text, in Python and in graphs.

Axes: B batch, S source length, T target length, V vocabulary.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kformer.arguments import as_texts, check_as_many
from kformer.decoding.batch_decoder import BatchDecoder
from kformer.inference.quality_estimate import (
    MIN_PAIRS,
    Doubt,
    Evidence,
    QualityEstimate,
    disturbed_pairs,
    doubt_of,
    fit_estimate,
)
from kformer.inference.search_options import SearchOptions
from kformer.tasks.search_defaults import SearchDefaults
from kformer.tasks.text_model import TextModel
from kformer.text import vocabulary
from kformer.text.paragraphs.joining import SPACE
from kformer.text.scores import sentence_scorer
from kformer.text.text_rows import write_texts
from kformer.text.tokenizer import Tokenizer

_MOST_PAIRS = 500  # More held-out pairs take longer and change few numbers little.


class QualityEstimates(SearchDefaults, TextModel):
    """Quality estimates of a model; base class of `Translator`."""

    target_tokenizer: Tokenizer
    _decode: BatchDecoder
    _quality_estimate: QualityEstimate | None = None

    @property
    def quality_estimate(self) -> QualityEstimate | None:
        """The `kformer.inference.quality_estimate.QualityEstimate` of translations; None for none.

        Training with validation text and `calibrate` set it, and all saved forms keep it. It can be
        set to another one, to its config, or to None.
        """
        return self._quality_estimate

    @quality_estimate.setter
    def quality_estimate(self, value: QualityEstimate | Mapping[str, Any] | None):
        if isinstance(value, Mapping):
            value = QualityEstimate.from_config(value)
        if not isinstance(value, QualityEstimate | None):
            raise TypeError(
                "`quality_estimate` must be a QualityEstimate, its config or None. "
                f"Received: quality_estimate={value!r:.99}."
            )
        self._quality_estimate = value

    def calibrate(
        self,
        sources: Iterable[str],
        references: Iterable[str],
        progress: Callable[[int], object] | None = None,
        target_language: str | None = None,
    ) -> Doubt:
        """Learns to estimate the quality of translations, and sets `quality_estimate`.

        The texts are translated by the search of `search_defaults`, as they are and disturbed: in
        capitals, with typing errors, in another language, two in a line. Of many pairs, 500 are
        used.

        Args:
            sources: list of strings, or another iterable of them: text that the model was not
                trained on, at least 100 sentences.
            references: as many strings, their right translations.
            progress: Called with the number of translations done, after each batch; there are two
                for each pair.
            target_language: One of `target_languages`, if there are any.

        Returns:
            `kformer.inference.quality_estimate.Doubt`: how well the estimates fit the
            undisturbed text.

        Raises:
            TypeError: One of the texts is no string.
            ValueError: There are not as many references as sources, or too few.
        """
        sources, references = as_texts(sources, "sources"), as_texts(references, "references")
        check_as_many(sources=sources, references=references)
        pairs = [pair for pair in zip(sources, references, strict=True) if pair[0].strip()]
        if len(pairs) < MIN_PAIRS:
            raise ValueError(
                f"A quality estimate needs {MIN_PAIRS} pairs of held-out text, or more. "
                f"Received: {len(pairs)} pairs with text."
            )
        places = np.linspace(0, len(pairs) - 1, min(len(pairs), _MOST_PAIRS)).astype(int)
        plain = [pairs[place] for place in places]
        sources, references = zip(*plain, strict=True)
        reads_capitals = not self.facts.lowers_capitals
        pairs = [*plain, *disturbed_pairs(sources, references, reads_capitals=reads_capitals)]
        texts, references = zip(*pairs, strict=True)
        evidence, scores = self._evidence(texts, references, progress, target_language)
        is_plain = np.arange(len(pairs)) < len(plain)
        self.quality_estimate = estimate = fit_estimate(evidence, scores, is_plain)
        qualities = estimate.quality(evidence)
        return doubt_of(qualities[is_plain], scores[is_plain], estimate.threshold)

    def _evidence(self, texts, references, progress, target_language):
        """Returns the `Evidence` of the translations of texts, and their chrF, 0 to 1."""
        options = self.search_options()
        rows = self._read(texts, "Sentence", None, target_language).ids
        best = [answers[0] for answers in self._decode(rows, options, progress=progress)]
        written = write_texts(self.target_tokenizer, [hypothesis.ids for hypothesis in best])
        score = sentence_scorer("chrf")
        scores = np.array([*map(score, written, references)]) / 100
        starts = word_starts(self.tokenizer.model)
        evidence = [_evidence_of(*pair, options, starts) for pair in zip(rows, best, strict=True)]
        return Evidence(*map(np.array, zip(*evidence, strict=True))), scores

    def _quality_of(self, options: SearchOptions) -> Callable[[Sequence[int], Any], float | None]:
        """Returns a function from the ids of a source and a `Hypothesis` to the quality."""
        estimate = self.quality_estimate
        if estimate is None:
            return lambda row, hypothesis: None
        starts = word_starts(self.tokenizer.model)

        def quality(row, hypothesis):
            if len(row) == 1:  # The translation of a blank text is right.
                return 1.0
            return float(estimate.quality(_evidence_of(row, hypothesis, options, starts)))

        return quality


def _evidence_of(row, hypothesis, options, starts):
    """Returns the `Evidence` of a `Hypothesis` for a row of source ids, the end id last."""
    length = len(hypothesis.ids)
    return Evidence(
        options.log_probability(hypothesis.score, length),
        length,
        max(1, len(row) - 1),
        length - hypothesis.ended,
        int(starts[row[:-1]].sum()),
    )


@functools.lru_cache(maxsize=4)
def word_starts(model: bytes) -> np.ndarray:
    """Returns which ids of a SentencePiece model are pieces that begin a word, int32 (V,)."""
    library = vocabulary.read(model)
    pieces = library.IdToPiece([*range(library.GetPieceSize())])
    starts = np.array([piece.startswith(SPACE) for piece in pieces], np.int32)
    starts.flags.writeable = False
    return starts


class QualityInGraph:
    """The quality estimate of a translator in the graph of an export.

    Args:
        translator: `kformer.Translator` with a `quality_estimate`.
        options: `SearchOptions` of the export.
        constant: Function from an array to a tensor.
    """

    def __init__(
        self,
        translator: Any,
        options: SearchOptions,
        constant: Callable[[np.ndarray], Any] = ops.convert_to_tensor,
    ):
        self.estimate: QualityEstimate = translator.quality_estimate
        self._options, self._constant = options, constant
        self._starts = word_starts(translator.tokenizer.model)
        self._padding_id = translator.tokenizer.padding_id
        self._target: Any = translator.target_tokenizer

    def __call__(self, source: Any, target: Any, score: Any) -> Any:
        """Returns the quality of translations, float32 (B,); 1 for a blank source.

        Args:
            source, target: int32 tensors (B, S) and (B, T), the ids with their end ids, padded.
            score: float32 tensor (B,), of the search.
        """
        pieces = _count(source != self._padding_id) - 1.0
        words = ops.sum(ops.take(self._constant(self._starts), source, axis=0), axis=1)
        lengths = _count(target != self._target.padding_id)
        ended = _count(target == self._target.end_id)
        evidence = Evidence(
            self._options.log_probability(score, lengths),
            lengths,
            ops.maximum(pieces, 1.0),
            lengths - ended,
            ops.cast(words, "float32"),
        )
        quality = self.estimate.quality(evidence, keras.ops)
        return ops.where(pieces > 0, quality, 1.0)


def _count(mask):
    """Returns the number of true elements of each row, float32 (B,)."""
    return ops.sum(ops.cast(mask, "float32"), axis=1)
