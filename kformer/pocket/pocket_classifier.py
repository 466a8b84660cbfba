"""Runs `.tflite` classifiers and taggers with NumPy and ai-edge-litert, without TensorFlow.

Axes: N texts, C classes.
"""

from collections.abc import Callable, Iterable

import numpy as np

from kformer.arguments import as_texts, text_or_texts
from kformer.kinds import CLASSIFIER, TAGGER
from kformer.pocket.pocket_model import PocketModel
from kformer.text.labels import Predictions, Tagging, predictions, predicts, tagger_text, tagging


class PocketClassifier(PocketModel):
    """A `.tflite` classifier; any number of threads may share one.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Maximum number of texts or batches classified at the same time, each on one
            core, by all threads together; by default the number of cores. One call uses several
            only if it has many texts. Large files run in processes, others in threads.

    Attributes:
        manifest: dict, the metadata of the file.

    Raises:
        FileNotFoundError: The file is missing.
        TypeError: `workers` is no integer.
        ValueError: `workers` is under 1; or the file is malformed, of another kind or of a newer
            format.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_tflite
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> classifier = kformer.TextClassifier(translator.tokenizer, encoder, ["bad", "good"])
        >>> file = export_tflite(classifier, "reviews.tflite")
        >>> kformer.pocket.PocketClassifier(file).predict("Der Film war gut.").probabilities.shape
        (2,)
    """

    kind = CLASSIFIER
    signature = "classify"

    @property
    def labels(self) -> tuple[str, ...]:
        """The C labels."""
        return tuple(self.manifest["labels"])

    @predicts
    def predict(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> Predictions:
        """Returns the most probable label of each text, and the probabilities of all labels.

        Args:
            texts: list of N strings, or another iterable of them; or one string.
            progress: Called with the number of texts done, after each text or batch.

        Returns:
            `kformer.Predictions`: `labels`, a list of N strings, and `probabilities`, float32
            (N, C), in the order of the classifier's `labels`. For one string, a
            `kformer.Prediction`.

        Raises:
            TypeError: `texts` is no list of strings.

        Warns:
            UserWarning: A text was too long; only its beginning was classified.
        """
        probabilities = self._answers(texts, "classified", progress)
        return predictions(
            self.labels, np.array(probabilities, np.float32).reshape(-1, len(self.labels))
        )

    def _read_text(self, outputs, over):
        return outputs["probabilities"]

    def _read_row(self, worker, outputs, source, cut, length):
        return outputs["probabilities"], False


class PocketTagger(PocketModel):
    """A `.tflite` tagger; any number of threads may share one.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Maximum number of texts or batches tagged at the same time, as for
            `kformer.pocket.PocketClassifier`.

    Attributes:
        manifest: dict, the metadata of the file.

    Raises:
        FileNotFoundError, TypeError, ValueError: As for `kformer.pocket.PocketClassifier`.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_tflite
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> tagger = kformer.TextTagger(translator.tokenizer, encoder, labels=["B-X", "I-X", "O"])
        >>> file = export_tflite(tagger, "places.tflite")
        >>> kformer.pocket.PocketTagger(file).tag("Tom fährt nach Ulm").words
        ['Tom', 'fährt', 'nach', 'Ulm']
    """

    kind = TAGGER
    signature = "tag"

    @property
    def labels(self) -> tuple[str, ...]:
        """The C labels."""
        return tuple(self.manifest["labels"])

    @text_or_texts
    def tag(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> list[Tagging]:
        """Labels the words of each text, as `kformer.TextTagger.tag`.

        Args:
            texts: list of N strings, or another iterable of them; or one string.
            progress: Called with the number of texts done, after each text or batch.

        Raises:
            TypeError: `texts` is no list of strings.

        Warns:
            UserWarning: A text was too long; its last words have no label.
        """
        texts = as_texts(texts, "texts")
        answers = self._answers([*map(tagger_text, texts)], "tagged", progress)
        return [
            tagging(text, [self.labels[place] for place in places], probabilities)
            for text, (places, probabilities) in zip(texts, answers, strict=True)
        ]

    def _read_text(self, outputs, over):
        begins = outputs["labels"] >= 0
        return outputs["labels"][begins].tolist(), outputs["probabilities"][begins].tolist()

    def _read_row(self, worker, outputs, source, cut, length):
        return self._read_text(outputs, cut), False
