"""The `.tflite` file of a language model: signatures that continue prompts by a search.

Axes: B batch, S most ids of a prompt with its start id, T most ids of a prompt with its
continuation.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from kformer.decoding.search_ids import FixedSearch
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.export.tflite.tflite_signatures import (
    Limits,
    TFLiteSignatures,
    beginning,
    signature,
    vector,
)
from kformer.export.tflite.tflite_translator import runtime_for
from kformer.inference.search_options import SearchOptions
from kformer.pocket.pocket_language_model import PocketLanguageModel
from kformer.pocket.pocket_model import SOURCE_CUT
from kformer.pocket.pocket_translator import TRANSLATION_CUT
from kformer.tasks.language_model import LanguageModel

_FIRST_ROOM = 64  # Positions that the cache has at first: enough for most continuations.


class TFLiteLanguageModelSignatures(TFLiteSignatures):
    """The signatures of a language model's file: continuation of bytes and of ids.

    Args:
        model: `kformer.LanguageModel`.
        network: `kformer.TransformerDecoder`.
        limits: `Limits`.
        batch_size: B; if over 1, there are also signatures for B prompts at once.
        constant: As for `TFLiteSignatures`.
        options: `kformer.SearchOptions`.
    """

    names = ("generate", "encode_text", "generate_ids", "tokenize", "detokenize")

    def __init__(
        self,
        model: LanguageModel,
        network: keras.Model,
        limits: Limits,
        batch_size: int,
        constant: Callable,
        options: SearchOptions,
    ):
        super().__init__(model.tokenizer, network, limits, constant)
        longest, positions = limits.source_length, limits.target_length
        self._search = FixedSearch(options, model.tokenizer, longest, positions)
        self._start_id, self._end_id = model.tokenizer.start_id, model.tokenizer.end_id
        self._searches = [self._traced_once(length) for length in limits.lengths]
        self._add_functions("generate_ids", self._generate_batch, batch_size)

    def _generate(self):
        limits = self._limits

        @signature(source=((limits.source_bytes,), tf.uint8))
        def generate(source):
            tokens = self._source.tokenize(source, limits.source_length)
            ids, score = self._best_ids(tf.expand_dims(tokens.ids, 0), tokens.count)
            ids = tf.reshape(ids, [-1])  # (T,)
            text, cut = self._source.detokenize(self._whole(tokens, ids), limits.target_bytes)
            truncated = SOURCE_CUT * tf.cast(tokens.cut, tf.int32)
            truncated += TRANSLATION_CUT * tf.cast(cut, tf.int32)
            return {
                "generation": text,
                "score": score,
                "truncated": vector(truncated),
                "source_ids": tokens.ids,
                "ids": ids,
            }

        return generate

    def _generate_ids(self):
        @signature(source=((1, self._limits.source_length), tf.int32))
        def generate_ids(source):
            ids, score = self._best_ids(source, self._count(source))
            return {"ids": ids, "score": score}

        return generate_ids

    def _generate_batch(self, batch, length):
        @signature(source=((batch, length), tf.int32))
        def generate_ids(source):
            return dict(zip(("ids", "score"), self._search_ids(source), strict=True))

        return generate_ids

    def _detokenize(self):
        @signature(ids=((1, self._limits.target_length), tf.int32))
        def detokenize(ids):
            text, cut = self._source.detokenize(tf.reshape(ids, [-1]), self._limits.target_bytes)
            return {
                "generation": text,
                "truncated": vector(TRANSLATION_CUT * tf.cast(cut, tf.int32)),
            }

        return detokenize

    def _whole(self, tokens, ids):
        """Returns the pieces of a prompt, and then the continuation's `ids`: int32 (T,)."""
        pieces, places = tokens.count - 1, tf.range(self._limits.target_length)
        prompt = tf.gather(tokens.ids, tf.minimum(places, self._limits.source_length - 1))
        continued = tf.gather(ids, tf.maximum(places - pieces, 0))
        return tf.where(places < pieces, prompt, continued)

    def _best_ids(self, source, count):
        """Returns ids and score of a prompt, by the shortest branch that fits `count` ids."""

        def within(length, find):
            return lambda: find(beginning(source, length))

        return self._by_length(count, [*map(within, self._limits.lengths, self._searches)])

    def _traced_once(self, length):
        """Returns the search for one prompt, which two signatures share."""
        return tf.function(
            self._search_ids,
            input_signature=[tf.TensorSpec((1, length), tf.int32)],
            autograph=False,
        )

    def _search_ids(self, source):
        most = self._limits.target_length
        runtime = runtime_for(*source.shape, self._search.options)._replace(
            capacities=(_FIRST_ROOM,)
        )
        real = tf.cast(tf.not_equal(source, self._network.padding_id), tf.int32)
        lengths = tf.reduce_sum(real, axis=1)
        output = self._search(self._network, self._read(source), lengths, runtime, most)
        return output.ids[:, 0], output.scores[:, 0]

    def _read(self, source):
        start = tf.fill([source.shape[0], 1], self._start_id)
        shifted = tf.concat([start, source[:, :-1]], axis=1)
        return tf.where(tf.equal(shifted, self._end_id), self._network.padding_id, shifted)


class TFLiteLanguageModelExport:
    """The metadata, signatures and test vectors of a language model, for `export_tflite`.

    Args:
        model: `kformer.LanguageModel`.
        options: `SearchOptions`.
    """

    pocket = PocketLanguageModel
    names = TFLiteLanguageModelSignatures.names

    def __init__(self, model: LanguageModel, options: SearchOptions):
        self._model = model
        self._options = options
        self.about: dict = {}
        self.tokenizers = [model.tokenizer]

    def quantized(self, network: keras.Model, constant: Callable, bits: int):
        """Returns `network`, a `kformer.TransformerDecoder`, whose table is rounded."""
        return with_quantized_embeddings(network, constant, bits)

    def signatures(
        self, network: keras.Model, limits: Limits, batch_size: int, constant: Callable
    ) -> TFLiteLanguageModelSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return TFLiteLanguageModelSignatures(
            self._model, network, limits, batch_size, constant, self._options
        )

    def metadata(self, limits: Limits) -> dict:
        """Returns the search, the sizes of the model and its special ids."""
        network, tokenizer = self._model.network, self._model.tokenizer
        config = network.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation", "vocab_size")
        return {
            "beam_size": self._options.beam_size,
            "length_penalty": self._options.length_penalty,
            "search": self._options.changed,
            **{name: config[name] for name in sizes},
            "parameters": network.count_params(),
            "padding_id": tokenizer.padding_id,
            "unknown_id": tokenizer.unknown_id,
            "start_id": tokenizer.start_id,
            "end_id": tokenizer.end_id,
            "max_target_length": limits.target_length,
            "max_target_bytes": limits.target_bytes,
        }

    def answer(self, pocket: Any, text: str) -> dict:
        """Returns the answer of `pocket`, which runs the file, to a prompt, for a test vector."""
        [generation] = pocket.generate([text])
        return {"generation": generation}
