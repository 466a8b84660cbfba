"""The classifier: text in, a label and its probability out, in one `.keras` file.

Axes: B batch, S length in ids, N texts, C classes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras
import numpy as np

from kformer.arguments import check_as_many, check_choice
from kformer.decoding.decoder_inputs import padded
from kformer.model.sequence_classifier import ClassifyingNetwork, SequenceClassifier
from kformer.model.stack import DROPOUT
from kformer.model.transformer_encoder import TransformerEncoder
from kformer.tasks.keras_file import check_format, with_format
from kformer.tasks.text_model import TextModel
from kformer.text.labels import Predictions, check_labels, predictions, predicts
from kformer.text.tokenizer import Tokenizer


class LabellingModel(TextModel):
    """A tokenizer, an encoder and a head with a class for each label; base class.

    Args:
        tokenizer: `Tokenizer`.
        encoder: `TransformerEncoder` with the tokenizer's vocabulary; or a `network_class`, with
            its head, for as many classes as `labels`.
        labels: C distinct strings.
        settings: dict of the settings of the head, by name, where `encoder` has none.
        max_source_length: See `TextModel`.

    Attributes:
        network_class: The class of the network.
    """

    network_class: type[ClassifyingNetwork]

    def __init__(
        self,
        tokenizer: Tokenizer,
        encoder: Any,
        labels: Sequence[str],
        settings: dict[str, Any] | None = None,
        max_source_length: int = 256,
        **kwargs: Any,
    ):
        super().__init__(tokenizer, max_source_length, **kwargs)
        self.labels = check_labels(labels)
        self.classifier = encoder
        if not isinstance(encoder, self.network_class):
            self.classifier = self.network_class(encoder, len(self.labels), **(settings or {}))
        if self.classifier.num_classes != len(self.labels):
            raise ValueError(
                "There must be a label for each class. Received: "
                f"{len(self.labels)} labels, {self.classifier.num_classes} classes."
            )
        self.supports_jit = self.classifier.supports_jit
        if tokenizer.model:  # Else `load_assets` follows.
            self._check_vocabularies()

    @property
    def network(self):
        return self.classifier

    def call(self, source: Any, training: bool | None = None):
        return self.classifier(source, training=training)

    def _number(self, label):
        """Returns the number of the class of a label, which may be that number."""
        if isinstance(label, str):
            return self.labels.index(check_choice("label", label, self.labels))
        return int(check_choice("label", label, range(len(self.labels))))

    def _with(self, network):
        return type(self)(
            self.tokenizer, network, self.labels, max_source_length=self.max_source_length
        )

    def get_config(self):
        config = {
            "prefix": self.tokenizer.prefix,
            "classifier": self.classifier.get_config(),
            "labels": list(self.labels),
            "max_source_length": self.max_source_length,
        }
        return with_format(config)

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        check_format(config["format"])
        return cls(
            Tokenizer(prefix=config.get("prefix")),
            cls.network_class.from_config(config["classifier"]),
            config["labels"],
            max_source_length=config["max_source_length"],
        )


@keras.saving.register_keras_serializable(package="kformer")
class TextClassifier(LabellingModel):
    """A tokenizer, an encoder and a head: the probability of each label.

    It trains as any Keras model: `compile` it with a loss of logits, and `fit` it to
    `kformer.training.classification_dataset`. `kformer.training.train_classifier` does both.

    Args:
        tokenizer: `Tokenizer`.
        encoder: `TransformerEncoder` with the tokenizer's vocabulary; `from_transformer` takes the
            encoder of a translator. Or a `SequenceClassifier`, with its head, for as many classes
            as `labels`; then `pooling` and `dropout` are its own.
        labels: C distinct strings.
        pooling: "mean" over the vectors of a text, or "first", the vector of its first piece.
        dropout: Dropout rate of the pooled vector.
        max_source_length: Maximum number of ids of a text, its end id included; only the beginning
            of a longer text is classified, with a warning.

    Call arguments:
        source: integer tensor (B, S), ids as `tokenizer` gives them, the end id last.

    Returns:
        logits: float32 tensor (B, C).

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> classifier = kformer.TextClassifier(translator.tokenizer, encoder, ["bad", "good"])
        >>> print(classifier.predict(["Der Film war gut."]).probabilities.shape)
        (1, 2)
    """

    network_class = SequenceClassifier

    def __init__(
        self,
        tokenizer: Tokenizer,
        encoder: TransformerEncoder | SequenceClassifier,
        labels: Sequence[str],
        pooling: str = "mean",
        dropout: float = DROPOUT,
        max_source_length: int = 256,
        **kwargs: Any,
    ):
        settings = {"pooling": pooling, "dropout": dropout}
        super().__init__(tokenizer, encoder, labels, settings, max_source_length, **kwargs)

    def _examples(self, texts, answers):
        labels = [] if answers is None else [*answers]
        check_as_many(x=texts, y=labels)
        rows = self._rows(texts, "learned", 1)
        numbers = np.array([self._number(label) for label in labels], np.int32)
        return padded(rows, self.tokenizer.padding_id), numbers, None

    @predicts
    def predict(  # type: ignore[override]  # `progress` stands where Keras has `verbose`.
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Returns the `Predictions` of `classify` for texts; for ids what Keras returns.

        Args:
            texts, batch_size, progress: As for `classify`; or ids, integer tensor (B, S).
            **kwargs: Arguments of `keras.Model.predict`, such as `verbose`, which ids need.

        Returns:
            `Predictions`; for ids the logits, float32 array (B, C).

        Raises:
            TypeError, ValueError: As for `classify`.
        """
        if progress is not None:
            kwargs["progress"] = progress
        return super().predict(texts, batch_size, **kwargs)

    @predicts
    def classify(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> Predictions:
        """Classifies any number of texts; sorts them by length, keeps their order.

        Args:
            texts: list of N strings, or another iterable of them, as for `encode`; or one string.
            batch_size: Texts classified at once. It changes speed, not answers.
            progress: Called with the number of texts done, after each batch.

        Returns:
            `Predictions`: `labels`, a list of N strings, and `probabilities`, float32 (N, C), in
            the order of the classifier's `labels`. For one string, a `Prediction`.

        Raises:
            TypeError: An argument, or one of the texts, has the wrong type.
            ValueError: `batch_size` is less than 1.

        Warns:
            UserWarning: A text was over `max_source_length` ids; only its beginning was read.
        """
        rows = self._rows(texts, "classified", batch_size)
        probabilities = np.empty((len(rows), len(self.labels)), np.float32)
        for batch, outputs in self._in_batches(_probabilities, rows, batch_size, progress):
            probabilities[batch] = outputs
        return predictions(self.labels, probabilities)


def _probabilities(network, source):
    return network.probabilities(source)
