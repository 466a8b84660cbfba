"""The signatures of a language model: continuations of prompts, and the scores of texts.

Axes: B batch, N sequences a prompt.
"""

from kformer.decoding.search_ids import FixedSearch
from kformer.export.saved_model.graph.continuing import Continuing
from kformer.export.saved_model.graph.reading import joined
from kformer.export.saved_model.graph.signatures import (
    CHUNK_IDS,
    CHUNK_ROWS,
    Signatures,
)
from kformer.tasks.kinds import of_several
from kformer.text.prompts import TOO_LONG


class LanguageModelSignatures(Signatures):
    """The functions of a language model that a server runs; see `Signatures`.

    Flags of a continuation are "length limit" and "loop", as in `kformer.Generation`. A prompt that
    leaves no room for one has the flag "prompt too long", and "" as its text.

    Args:
        model: `kformer.LanguageModel`.
        network: The float32 copy of its network whose variables are saved.
        options: `kformer.SearchOptions`.
        limits: `kformer.export.saved_model.batch_limits.BatchLimits`.
        xla: Whether to compile the decode loops.
    """

    def __init__(self, model, network, options, limits, xla=False):
        super().__init__(model, network, limits)

        def continuing(options):
            search = FixedSearch(options, self._tokenizer, self._longest, self._longest)
            most = self._longest if xla else None
            return Continuing(self._longest, network, search, self._tokenizer, most)

        self._best = continuing(options)
        self._several = continuing(of_several(options))

    def _own(self):
        return {
            **dict.fromkeys(("serving_default", "generate"), self.generate),
            "generate_beam": self.generate_beam,
            "score": self.score,
        }

    def generate(self, text):
        """Returns each prompt with its best continuation.

        Returns:
            generation: string (B,).
            score: float32 (B,), of the continuation; see `kformer.Greedy` and `kformer.Beam`.
            flags: string (B,).
        """
        return {name: tensor[:, 0] for name, tensor in self._continued(self._best, text).items()}

    def generate_beam(self, text):
        """Returns each prompt with its N best continuations, best first.

        Returns:
            generation: string (B, N).
            score: float32 (B, N). If a prompt has fewer than N continuations, the rest are empty,
                with scores of -1e9.
            flags: string (B, N).
        """
        return self._continued(self._several, text)

    def score(self, text):
        """Scores texts.

        Returns:
            log_probability: float32 (B,), natural, of the whole text with its end.
            tokens: int32 (B,), number of ids of the text with its end.
            flags: string (B,).
        """
        rows = self._sources(text)
        at_once = self._at_once(rows)
        return {
            **self._scored(rows.ids[:, :0], rows, self._tokenizer.start_id, at_once),
            "flags": joined(rows.flags("source")),
        }

    def _continued(self, continuing, text):
        rows = self._sources(text)
        flags = {TOO_LONG: rows.cut, "prompt not UTF-8": rows.broken}
        # However short a prompt is, it may grow to the longest text.
        at_once = max(1, min(CHUNK_IDS // self._longest, CHUNK_ROWS))
        return continuing(self._with_start(rows.ids), flags, at_once)

    def _with_start(self, ids):
        """Returns rows of pieces and the end id with the start id before them, without the end."""
        return self._tokenizer.with_start(ids[:, :-1])

    def _filled(self, ids):
        return super()._filled(self._with_start(ids))
