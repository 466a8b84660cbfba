"""BLEU and chrF of the validation text during training.

`ValidationCallback` is called after each validation, at the end of an epoch or within it.
"""

from typing import Any

import keras

from kformer.tasks.translator import Translator
from kformer.text.scores import bleu_metric, chrf_metric, score_with


class ValidationCallback(keras.callbacks.Callback):
    """Base class of callbacks that act after each validation, in `on_validation`.

    `fit` validates at the end of each epoch, `kformer.training.run.validation.ValidateEvery` also
    within one.
    """

    def on_validation(self, epoch: float, logs: dict):
        """Called after each validation.

        Args:
            epoch: Number of passes over the data so far, such as 1.25.
            logs: {name: value} of the metrics; names of validation metrics begin with "val_".
        """
        raise NotImplementedError

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self.on_validation(epoch + 1, {} if logs is None else logs)


_BATCH_SIZE = 64  # The fastest for a small model on two cores.


class TranslationScores(ValidationCallback):
    """Translates a text after each validation: adds `val_bleu` and `val_chrf` to the logs.

    `kformer.bleu` and `kformer.chrf` score the output of `translator.translate`. In the list of
    callbacks, put callbacks that read the scores after this one. Inside
    `kformer.training.WithAverage`, it scores the averaged weights. The search is traced once. An
    untrained model never ends a sentence; the length limit of each translation keeps it to a few
    times the duration of a trained one.

    Args:
        translator: `kformer.Translator` of the model in training.
        sources: list of strings, to translate.
        references: list of as many strings, their translations.
        beam_size: As for `Translator.translate`.
        tokenize: Tokenizer of BLEU, as for `kformer.bleu`; None for the tokenizer of
            `translator.target_language`.

    Raises:
        ValueError: There are not as many references as sources, or an error of `kformer.bleu`.

    Warns:
        UserWarning: As for `kformer.bleu`.

    Examples:
        >>> import kformer
        >>> from kformer.training import TranslationScores
        >>> translator = kformer.load("runs/de-en/translator.keras")
        >>> scores, logs = TranslationScores(translator, ["Ein Hund läuft."], ["A dog runs."]), {}
        >>> scores.on_validation(1, logs)
        >>> {name: round(value) for name, value in logs.items()}
        {'val_bleu': 100, 'val_chrf': 100}
    """

    def __init__(
        self,
        translator: Translator,
        sources: list[str],
        references: list[str],
        *,
        beam_size: int = 1,
        tokenize: str | None = None,
    ):
        super().__init__()
        if len(sources) != len(references) or not sources:
            raise ValueError(
                "Every source needs its reference. "
                f"Received: {len(sources)} sources, {len(references)} references."
            )
        self.translator = translator
        self.sources = sources
        self.references = references
        self.beam_size = beam_size
        language = translator.target_language
        self._bleu = bleu_metric(tokenize, language, references=references, stacklevel=2)
        self._chrf = chrf_metric()

    def on_validation(self, epoch: float, logs: dict):
        """Adds the scores to the logs."""
        translations = self.translator.translate(
            self.sources, beam_size=self.beam_size, batch_size=_BATCH_SIZE, split=False
        )
        logs["val_bleu"] = score_with(self._bleu, translations, self.references).value
        logs["val_chrf"] = score_with(self._chrf, translations, self.references).value
