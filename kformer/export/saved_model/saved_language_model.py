"""The SavedModel of a language model: continuations of prompts in graph, and scores of texts.

Axes: B batch, N sequences a prompt, T length of a continuation.
"""

from collections.abc import Sequence

import keras
import tensorflow as tf

from kformer.decoding.search_ids import FixedSearch
from kformer.export.saved_model.graph_search import Searching
from kformer.export.saved_model.saved_translator import about_search
from kformer.export.saved_model.serving_signatures import (
    CHUNK_IDS,
    CHUNK_ROWS,
    ServingSignatures,
)
from kformer.export.saved_model.text_in_graph import degenerate_flags, joined
from kformer.export.saved_model.warmup import BatchLimits, Examples, examples_of
from kformer.inference.degenerate import TOO_LONG
from kformer.inference.search_options import SearchOptions
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.search_defaults import with_beams
from kformer.text.tokenizer import Tokenizer


class Continuing(Searching):
    """Continues prompts, each of the start id and pieces; a prompt that is too long has no answer.

    Args:
        max_positions: Largest number of positions of a prompt and its continuation.
        network, search, tokenizer, most: As for `Searching`.
    """

    output = "generation"

    def __init__(
        self,
        max_positions: int,
        network: TransformerDecoder,
        search: FixedSearch,
        tokenizer: Tokenizer,
        most: int | None = None,
    ):
        self._max_positions = max_positions
        super().__init__(network, search, tokenizer, most)

    def _longest(self, length):
        return self._max_positions

    def _has_answer(self, ids, flags):
        return ~flags[TOO_LONG]

    def _degenerate(self, source, ids, rows, lengths, number):
        none = tf.zeros_like(lengths)
        flags = degenerate_flags(tf.zeros_like(rows[:, :0]), none, rows, lengths)
        return {"loop": flags["loop"]}

    def _whole(self, ids, rows, number):
        prompts = tf.gather(ids[:, 1:], tf.repeat(tf.range(ids.nrows()), number))
        return tf.concat([prompts, tf.RaggedTensor.from_tensor(rows)], axis=1)


class SavedLanguageModelSignatures(ServingSignatures):
    """The functions of a language model that a server runs.

    Flags of a continuation are "length limit" and "loop", as in `kformer.Generation`. A prompt that
    leaves no room for one has the flag "prompt too long", and "" as its text.

    Args:
        model: `kformer.LanguageModel`.
        network: The float32 copy of its network whose variables are saved.
        options: `kformer.SearchOptions`.
        limits: `kformer.export.saved_model.warmup.BatchLimits`.
        xla: Whether to compile the decode loops.
    """

    def __init__(
        self,
        model: LanguageModel,
        network: keras.Model,
        options: SearchOptions,
        limits: BatchLimits,
        xla: bool = False,
    ):
        super().__init__(model, network, limits)

        def continuing(options):
            search = FixedSearch(options, self._tokenizer, self._longest, self._longest)
            most = self._longest if xla else None
            return Continuing(self._longest, network, search, self._tokenizer, most)

        self._best = continuing(options)
        self._several = continuing(with_beams(options))

    def _own(self):
        return {
            **dict.fromkeys(("serving_default", "generate"), self.generate),
            "generate_beam": self.generate_beam,
            "score": self.score,
        }

    def generate(self, text: tf.Tensor):
        """Returns each prompt with its best continuation.

        Returns:
            generation: string (B,).
            score: float32 (B,), of the continuation, defined by `kformer.Greedy` and
                `kformer.Beam`.
            flags: string (B,).
        """
        return {name: tensor[:, 0] for name, tensor in self._continued(self._best, text).items()}

    def generate_beam(self, text: tf.Tensor):
        """Returns each prompt with its N best continuations, best first.

        Returns:
            generation: string (B, N).
            score: float32 (B, N). If a prompt has fewer than N continuations, the rest are empty,
                with scores of -1e9.
            flags: string (B, N).
        """
        return self._continued(self._several, text)

    def score(self, text: tf.Tensor):
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


class SavedLanguageModelExport:
    """The settings, examples and signatures of a language model, for `export_saved_model`.

    Args:
        model: `kformer.LanguageModel`.
        options: `SearchOptions`.
    """

    def __init__(self, model: LanguageModel, options: SearchOptions):
        self._model = model
        self._search = options
        self.tokenizers = [model.tokenizer]
        self.settings = {
            "beam_size": options.beam_size,
            "length_penalty": options.length_penalty,
            "search": options.changed,
            "n_best": with_beams(options).n_best,
        }
        self.about = about_search("continues prompts", self._search)

    def signatures(
        self, network: keras.Model, limits: BatchLimits, xla: bool
    ) -> SavedLanguageModelSignatures:
        """Returns the signatures, with the weights of `network`."""
        return SavedLanguageModelSignatures(self._model, network, self._search, limits, xla)

    def examples(self, texts: Sequence[str] | None) -> dict[str, Examples]:
        """Returns examples by the name of an input, of `texts` or of the vocabulary."""
        return {"text": examples_of(self._model.tokenizer, texts)}
