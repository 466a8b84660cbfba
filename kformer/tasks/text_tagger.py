"""The tagger: text in, a label for each of its words out, in one `.keras` file.

Axes: B batch, S length in ids, V vocabulary, W words of a text, C classes.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras
import numpy as np

from kformer.arguments import as_texts, check_as_many, text_or_texts
from kformer.decoding.decoder_inputs import padded
from kformer.model.sequence_classifier import TokenClassifier
from kformer.model.stack import DROPOUT
from kformer.model.transformer_encoder import TransformerEncoder
from kformer.tasks.text_classifier import LabellingModel
from kformer.text.labels import Tagging, tagger_text, tagging
from kformer.text.paragraphs.joining import SPACE
from kformer.text.tokenizer import Tokenizer


def word_starts(tokenizer: Tokenizer) -> np.ndarray:
    """Returns for each id whether its piece begins a word, bool (V,)."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    return np.array([piece.startswith(SPACE) for piece in pieces])


@keras.saving.register_keras_serializable(package="kformer")
class TextTagger(LabellingModel):
    """A tokenizer, an encoder and a head: a label for each word, from its first piece.

    Labels may be those of spans: "B-X" begins a span of the type X, "I-X" continues it, and "O" is
    outside. `kformer.training.train_tagger` trains one.

    Args:
        tokenizer: `Tokenizer` whose pieces are within words.
        encoder: `TransformerEncoder` with the tokenizer's vocabulary; or a `TokenClassifier`, with
            its head, for as many classes as `labels`; then `dropout` is its own.
        labels: C distinct strings without spaces.
        dropout: Dropout rate of the encoder's vectors.
        max_source_length: Maximum number of ids of a text, its end id included; the words after
            them have no label.

    Call arguments:
        source: integer tensor (B, S), ids as `tokenizer` gives them, the end id last.

    Returns:
        logits: float32 tensor (B, S, C).

    Examples:
        >>> import kformer
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
        >>> tagger = kformer.TextTagger(translator.tokenizer, encoder, labels=["B-X", "I-X", "O"])
        >>> [tagging] = tagger.tag(["Tom fährt nach Ulm"])
        >>> len(tagging.labels)
        4
    """

    network_class = TokenClassifier

    def __init__(
        self,
        tokenizer: Tokenizer,
        encoder: TransformerEncoder | TokenClassifier,
        labels: Sequence[str],
        dropout: float = DROPOUT,
        max_source_length: int = 256,
        **kwargs: Any,
    ):
        settings = {"dropout": dropout}
        super().__init__(tokenizer, encoder, labels, settings, max_source_length, **kwargs)
        if spaced := [label for label in self.labels if " " in label]:
            raise ValueError(f"A label of words must not have spaces. Received: {spaced[0]!r}.")

    @functools.cached_property
    def word_starts(self) -> np.ndarray:
        """For each id whether its piece begins a word, bool (V,)."""
        return word_starts(self.tokenizer)

    def _check_vocabularies(self):
        super()._check_vocabularies()
        [row] = self.tokenizer.tokenize(["a a"]).to_list()
        starts = self.word_starts[row]
        if not starts[0] or starts.sum() != 2:
            raise ValueError(
                "The tokenizer of a tagger must mark the beginning of each word, and have no "
                f"prefix. Received: the pieces {self.tokenizer.pieces(row)} of 'a a'."
            )

    def _examples(self, texts, answers):
        answers = [] if answers is None else [*answers]
        check_as_many(x=texts, y=answers)
        source = padded(
            self._rows([*map(tagger_text, texts)], "learned", 1), self.tokenizer.padding_id
        )
        first = self.word_starts[source] & (source != self.tokenizer.padding_id)  # (N, S)
        expected = np.zeros(source.shape, np.int32)
        for row, text, labels, starts in zip(expected, texts, answers, first, strict=True):
            if isinstance(labels, str) or len(labels) != len(text.split()):
                raise ValueError(
                    "There must be a list of as many labels as a text has words. "
                    f"Received: {labels!r:.99} for {text!r:.99}."
                )
            numbers = [self._number(label) for label in labels]
            row[starts] = numbers[: starts.sum()]  # The last words of a text may be cut off.
        return source, expected, first.astype(np.float32)

    @text_or_texts
    def tag(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> list[Tagging]:
        """Labels the words of any number of texts.

        Args:
            texts: list of N strings, or another iterable of them; or one string. White space
                separates words.
            batch_size: Texts tagged at once. It changes speed, not answers.
            progress: Called with the number of texts done, after each batch.

        Returns:
            list of N `Tagging`s; or one.

        Raises:
            TypeError: An argument, or one of the texts, is not what it should be.
            ValueError: `batch_size` is less than 1.

        Warns:
            UserWarning: A text was over `max_source_length` ids; its last words have no label.
        """
        texts = as_texts(texts, "texts")
        rows = self._rows([*map(tagger_text, texts)], "tagged", batch_size)
        taggings = [Tagging([], [], [])] * len(texts)
        for batch, outputs in self._in_batches(_probabilities, rows, batch_size, progress):
            for i, probabilities in zip(batch, outputs, strict=True):
                words = probabilities[: len(rows[i])][self.word_starts[rows[i]]]  # (W, C)
                labels = [self.labels[place] for place in words.argmax(axis=1)]
                taggings[i] = tagging(texts[i], labels, words.max(axis=1).tolist())
        return taggings


def _probabilities(network, source):
    return network.probabilities(source)
