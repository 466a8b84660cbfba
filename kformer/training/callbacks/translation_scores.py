"""BLEU and chrF of the validation text while a model learns."""

import keras

from kformer.text.scores import bleu, chrf

_BATCH_SIZE = 64  # On two cores the fastest, for a small model.


class TranslationScores(keras.callbacks.Callback):
    """Translates a text at the end of each epoch: `val_bleu` and `val_chrf` in the logs.

    The scores are those of `kformer.bleu` and `kformer.chrf` for what `translator.translate`
    says. Callbacks that read them, as to stop early, come behind this one in the list for `fit`;
    `kformer.training.WithAverage` takes this one among its own, so that it is the average
    which translates. The search is traced once. An untrained model, which never ends a
    sentence, takes a few times as long as a trained one, and no longer: each translation has its
    limit of length.

    Args:
        translator: `kformer.Translator` of the model in training.
        sources: list of strings, to translate.
        references: list of as many strings, their translations.
        beam_size: See `Translator.translate`.
    """

    def __init__(self, translator, sources, references, *, beam_size: int = 1):
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

    def on_epoch_end(self, epoch, logs=None):
        self.on_validation(epoch + 1, logs)

    def on_validation(self, epoch, logs=None):
        """Puts the scores into the logs."""
        translations = self.translator.translate(
            self.sources, self.beam_size, batch_size=_BATCH_SIZE
        )
        logs["val_bleu"] = bleu(translations, self.references).value
        logs["val_chrf"] = chrf(translations, self.references).value
