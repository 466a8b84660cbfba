"""The signatures of a translator: its search, and the scores of given translations.

Axes: B batch, N sequences a text, S source length, T target length.
"""

import tensorflow as tf

from kformer.decoding.options import EXTRA_LENGTH
from kformer.decoding.search_ids import FixedSearch
from kformer.export.saved_model.graph.reading import joined
from kformer.export.saved_model.graph.signatures import Signatures, as_many
from kformer.export.saved_model.graph.translating import Translating
from kformer.tasks.kinds import of_several


class TranslatorSignatures(Signatures):
    """The functions of a translator that a server runs; see `Signatures`.

    Flags of a translation are "length limit", "loop" and "length ratio", as in
    `kformer.Translation`.

    Args:
        translator: `kformer.Translator`.
        transformer: The float32 copy of its transformer whose variables are saved.
        options: `kformer.SearchOptions`.
        limits: `kformer.export.saved_model.batch_limits.BatchLimits`.
        xla: Whether to compile the decode loops.
    """

    def __init__(self, translator, transformer, options, limits, xla=False):
        super().__init__(translator, transformer, limits)
        self._target = translator.target_tokenizer

        def translating(options):
            search = FixedSearch(options, self._target, self._longest)
            most = self._longest if xla else None
            return Translating(transformer, search, self._target, most, translator.shortlist)

        self._best = translating(options)
        self._several = translating(of_several(options))

    def _own(self):
        return {"serving_default": self.translate, "beam": self.beam, "score": self.score}

    def translate(self, text, target_language=None):
        """Returns the best translation of each text.

        Returns:
            translation: string (B,).
            score: float32 (B,), see `kformer.Greedy` and `kformer.Beam`.
            truncated: bool (B,), whether the text was cut.
            flags: string (B,).
        """
        rows = self._sources(text, target_language)
        said = self._best(rows.ids, rows.flags("source"), self._at_once(rows))
        best = {name: tensor[:, 0] for name, tensor in said.items()}
        return {**best, "truncated": rows.cut}

    def beam(self, text, target_language=None):
        """Returns the N best translations of each text, best first.

        Returns:
            translation: string (B, N).
            score: float32 (B, N). If a text has fewer than N translations, the rest are empty, with
                scores of -1e9.
            flags: string (B, N).
        """
        rows = self._sources(text, target_language)
        return self._several(rows.ids, rows.flags("source"), self._at_once(rows))

    def score(self, source, target, target_language=None):
        """Scores given translations.

        Args:
            source, target: string (B,).
            target_language: string (B,), that of the targets, of a model with several.

        Returns:
            log_probability: float32 (B,), natural, of the whole target with its end.
            tokens: int32 (B,), number of ids of the target with its end.
            flags: string (B,); also "target cut" and "target not UTF-8".
        """
        with tf.control_dependencies([as_many("targets as sources", source, target)]):
            sources = self._read(self._tokenizer, source, self._longest, target_language)
            targets = self._read(self._target, target, self._longest + EXTRA_LENGTH)
        rows, targets = self._within_limits(sources, targets)
        flags = {**rows.flags("source"), **targets.flags("target")}
        return {
            **self._scored(rows.ids, targets, self._target.start_id, self._at_once(rows)),
            "flags": joined(flags),
        }
