"""Runs a `.tflite` translator with NumPy and ai-edge-litert, without TensorFlow."""

import copy
import functools
from pathlib import Path

import numpy as np

from kformer.inference.any_translator import AnyTranslator
from kformer.inference.degenerate import degenerate_flags
from kformer.inference.quality_estimate import estimate_in
from kformer.inference.results import Translation
from kformer.kinds import TRANSLATOR
from kformer.pocket.metadata import METADATA_RULE
from kformer.pocket.pocket_engine import PocketEngine
from kformer.pocket.pocket_model import SOURCE_CUT, PocketModel
from kformer.pocket.pocket_text import text_in

TRANSLATION_CUT = 2  # A bit of the output `truncated`.


class PocketTranslator(AnyTranslator, PocketModel):
    """A `.tflite` translator; any number of threads may share one.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Maximum number of sentences or batches translated at the same time, each on one
            core, by all threads together; by default the number of cores. One call uses several
            only if it has many sentences. Large files run in processes, others in threads.

    Attributes:
        manifest: dict, the metadata of the file.
        quality_estimate: The translator's `QualityEstimate`; None for none.

    Raises:
        FileNotFoundError: A file is missing.
        TypeError: `workers` is no integer.
        ValueError: `workers` is under 1; or a file is malformed, of another kind or of a newer
            format.

    Examples:
        >>> from kformer.pocket import PocketTranslator
        >>> translator = PocketTranslator("de-en.tflite")
        >>> translator.translate("Ein Hund läuft.")
        'A dog runs.'
        >>> translator.translate(["Ein Hund läuft.", ""])
        ['A dog runs.', '']
    """

    kind = TRANSLATOR
    signature = "translate"
    bulk_signature = "translate_ids"

    def __init__(self, path: str | Path, workers: int | None = None):
        super().__init__(path, workers)
        self._languages = tuple(self.manifest.get("target_languages", ()))
        self._target_language = self.manifest.get("target_language")
        self.quality_estimate = estimate_in(
            self.manifest.get("quality_estimate"), METADATA_RULE, path
        )

    @functools.cached_property
    def engine(self) -> PocketEngine:
        """The engine that runs the file."""
        return PocketEngine(self)

    def _into(self, target_language):
        """Returns a translator that runs the same file with the same workers."""
        translator = copy.copy(self)
        translator._text, translator._languages = self._text.into(target_language), ()
        translator._target_language = target_language
        translator.engine = PocketEngine(translator)
        return translator

    def _read_text(self, outputs, over):
        source, ids = outputs["source_ids"], outputs["ids"]
        row = source[source != self.manifest["padding_id"]].tolist()
        cut = over or bool(int(outputs["truncated"][0]) & SOURCE_CUT)
        flags = self._flags(row, cut, ids)
        end_missing = int(outputs["truncated"][0]) & TRANSLATION_CUT
        flags += ("translation cut",) if end_missing else ()
        return self._translation(text_in(outputs["translation"]), flags, outputs)

    def _read_row(self, worker, outputs, source, cut, length):
        ids = outputs["ids"]
        text, end_missing = self._text.decode(worker, ids)
        flags = self._flags(source, cut, ids)
        flags += ("translation cut",) if end_missing else ()
        return self._translation(text, flags, outputs), end_missing

    def _translation(self, text, flags, outputs):
        score, quality = (_number(outputs, name) for name in ("score", "quality"))
        if self.quality_estimate:
            flags += self.quality_estimate.flags(quality)
        return Translation(text, score, flags, quality=quality)

    def _flags(self, source, cut, ids):
        """Returns the flags of `ids`, an array, for the ids of their source, its end id last."""
        flags = ["source cut"] if cut else []
        if len(source) == 1:  # Blank input gets no further flags.
            return tuple(flags)
        end_id = self.manifest.get("target_end_id", self.manifest["end_id"])
        ids = ids.tolist()
        if end_id in ids:
            ids = ids[: ids.index(end_id)]
        else:
            flags.append("length limit")
            padding_id = self.manifest.get("target_padding_id", self.manifest["padding_id"])
            while ids and ids[-1] == padding_id:
                ids.pop()
        return (*flags, *degenerate_flags(source[:-1], ids))


def _number(outputs, name):
    """Returns the one number in an output; None if the file lacks it."""
    return float(np.ravel(outputs[name])[0]) if name in outputs else None
