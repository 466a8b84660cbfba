"""Runs a translator's SavedModel in Python."""

from kformer.export.saved_model.served_model import ServedModel
from kformer.serving import ServedTranslation
from kformer.serving.rows import read_best, warn_of_cut
from kformer.text.paragraphs.split_translation import (
    SplitTranslation,
    check_split,
    translate_split,
)


class ServedTranslator(ServedModel):
    """Runs the SavedModel of a translator in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.
    """

    _outputs = ("translation", "truncated")

    def translate(
        self, texts, batch_size: int = 32, progress=None, *, split=False, source_language=None
    ) -> list[str]:
        """See `kformer.Translator.translate`; the export chose the search."""
        check_split(split, source_language)
        if split:
            found = self._split(texts, source_language, batch_size, progress)
            return [one.text for one in found]
        return [best.text for [best] in self._translations(texts, batch_size, progress)]

    def translations(
        self, texts, batch_size: int = 32, progress=None
    ) -> list[list[ServedTranslation]]:
        """As `translate`, but with scores and flags: for each text a list of its best one."""
        return self._translations(texts, batch_size, progress)

    def split_translations(
        self, texts, source_language=None, batch_size: int = 32, progress=None
    ) -> list[SplitTranslation]:
        """See `kformer.Translator.split_translations`; the export chose the search."""
        return self._split(texts, source_language, batch_size, progress)

    def _split(self, texts, source_language, batch_size, progress):
        def find(sentences, progress):
            return [best for [best] in self._best(sentences, batch_size, progress)]

        return translate_split(find, texts, source_language, progress, stacklevel=4)

    def _best(self, texts, batch_size, progress):
        return self._answers("serving_default", read_best, texts, batch_size, progress)

    def _translations(self, texts, batch_size, progress):
        found = self._best(texts, batch_size, progress)
        warn_of_cut([best.flags for [best] in found], "translated", stacklevel=4)
        return found
