"""The `.tflite` file of a translator: signatures that translate by a search, or step by step.

Axes: S most ids of a source, T of a translation, L layers, H heads, W width of a head, V ids.
"""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from kformer.decoding.decoder_step import DecoderStep
from kformer.decoding.kv_cache import KVCache
from kformer.decoding.recurrent_state import RecurrentState
from kformer.decoding.runtime import LITERT
from kformer.decoding.search.compaction import compact_in_halves
from kformer.decoding.search_ids import FixedSearch
from kformer.decoding.shortlist import Selection
from kformer.decoding.source_memory import SourceMemory, additive_mask, source_memory
from kformer.export.byte_codec.codec import ByteCodec
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.export.tflite.tflite_signatures import (
    Limits,
    TFLiteSignatures,
    beginning,
    signature,
    vector,
)
from kformer.inference.search_options import SearchOptions
from kformer.model.attention import KeysValues
from kformer.model.transformer import Transformer
from kformer.pocket.pocket_model import SOURCE_CUT
from kformer.pocket.pocket_translator import TRANSLATION_CUT, PocketTranslator
from kformer.tasks.quality_estimates import QualityInGraph, word_starts
from kformer.tasks.translator import Translator
from kformer.tasks.word_alignment import index_of


class TFLiteTranslatorSignatures(TFLiteSignatures):
    """The signatures of a translator's file: translation of bytes, of ids and step by step.

    Args:
        translator: `kformer.Translator`.
        transformer: `kformer.Transformer`.
        limits: `Limits`.
        batch_size: B; if over 1, there are also signatures for B sources at once.
        constant: As for `TFLiteSignatures`.
        options: `kformer.SearchOptions`.
    """

    names = (
        "translate",
        "encode_text",
        "translate_ids",
        "tokenize",
        "detokenize",
        "encode",
        "decode_step",
    )

    def __init__(
        self,
        translator: Translator,
        transformer: Transformer,
        limits: Limits,
        batch_size: int,
        constant: Callable,
        options: SearchOptions,
    ):
        super().__init__(translator.tokenizer, transformer, limits, constant)
        self._search = FixedSearch(options, translator.target_tokenizer, limits.source_length)
        self._shortlist = translator.shortlist and Selection(
            translator.shortlist, transformer.padding_id, constant
        )
        self._rate = translator.quality_estimate and QualityInGraph(translator, options, constant)
        self._head = index_of(translator.alignment_head)
        if translator.tokenizer.model == translator.target_tokenizer.model:
            self._starts = word_starts(translator.tokenizer.model).astype("uint8")
        self._searches = [self._traced_once(length) for length in limits.lengths]
        self._target = ByteCodec(translator.target_tokenizer, constant)
        self._add_functions("translate_ids", self._translate_batch, batch_size)

    def _translate(self):
        limits = self._limits

        @signature(**self._text_inputs)
        def translate(source, target_language=None):
            tokens = self._source.tokenize(source, limits.source_length, target_language)
            source_ids = tf.expand_dims(tokens.ids, 0)
            ids, score = self._best_ids(source_ids, tokens.count)
            rated = self._rated(source_ids, ids, score)
            ids = tf.reshape(ids, [-1])
            text, cut = self._target.detokenize(ids, limits.target_bytes)
            truncated = SOURCE_CUT * tf.cast(tokens.cut, tf.int32)
            truncated += TRANSLATION_CUT * tf.cast(cut, tf.int32)
            return {
                "translation": text,
                **rated,
                "truncated": vector(truncated),
                "source_ids": tokens.ids,
                "ids": ids,
            }

        return translate

    def _translate_ids(self):
        @signature(source=((1, self._limits.source_length), tf.int32))
        def translate_ids(source):
            ids, score = self._best_ids(source, self._count(source))
            return {"ids": ids, **self._rated(source, ids, score)}

        return translate_ids

    def _detokenize(self):
        @signature(ids=((1, self._limits.target_length), tf.int32))
        def detokenize(ids):
            text, cut = self._target.detokenize(tf.reshape(ids, [-1]), self._limits.target_bytes)
            truncated = TRANSLATION_CUT * tf.cast(cut, tf.int32)
            return {"translation": text, "truncated": vector(truncated)}

        return detokenize

    def _translate_batch(self, batch, length):
        @signature(source=((batch, length), tf.int32))
        def translate_ids(source):
            ids, score = self._search_ids(source, length)
            return {"ids": ids, **self._rated(source, ids, score)}

        return translate_ids

    def _encode(self):
        transformer, length = self._network, self._limits.source_length

        @signature(source=((1, length), tf.int32))
        def encode(source):
            encoded, mask = transformer.encode(source), transformer.source_mask(source)
            memory = source_memory(transformer, encoded, mask)
            keys, values = zip(*memory.layers, strict=True)
            return {
                "memory": encoded,
                "mask": tf.reshape(tf.cast(mask, tf.float32), (1, length)),
                "memory_keys": tf.concat(keys, axis=0),
                "memory_values": tf.concat(values, axis=0),
            }

        return encode

    def _decode_step(self):
        transformer, limits = self._network, self._limits
        decoder, d_model = transformer.decoder, transformer.target_embedding.d_model
        layers, heads = len(decoder.layers), decoder.num_heads
        width, length, most = d_model // heads, limits.source_length, limits.target_length
        inputs = {
            "ids": ((1, 1), tf.int32),
            "position": ((1,), tf.int32),
            "mask": ((1, length), tf.float32),
            "memory_keys": ((layers, heads, width, length), tf.float32),
            "memory_values": ((layers, heads, length, width), tf.float32),
        }

        def step(ids, position, mask, memory_keys, memory_values, cache):
            seen = tf.reshape(mask > 0, (1, 1, 1, length))
            memory = SourceMemory(_layers(memory_keys, memory_values), additive_mask(seen))
            runtime = LITERT._replace(block=None, elementwise_attention=False)
            step = DecoderStep(transformer, memory, most, runtime=runtime, **self._head)
            place = tf.reshape(position, ())
            visible = tf.reshape(tf.range(most) <= place, (1, 1, most))
            output = step(ids, place, visible, cache)
            logits = tf.reshape(output.logits, (1, -1))
            if step.refusal is not None:  # Searches of apps must not choose these ids either.
                logits += step.refusal
            weights = tf.reshape(output.attention, (1, length))
            return {"logits": logits, "weights": weights}, output.cache

        if decoder.decoder_cell == "ssru":

            @signature(**inputs, state=((layers, d_model), tf.float32))
            def decode_step(ids, position, mask, memory_keys, memory_values, state):
                cache = RecurrentState(tuple(tf.split(state, layers, axis=0)))
                outputs, cache = step(ids, position, mask, memory_keys, memory_values, cache)
                return {**outputs, "state": tf.concat(cache.layers, axis=0)}

            return decode_step
        buffers = ((layers, heads, most, width), tf.float32)

        @signature(**inputs, cache_keys=buffers, cache_values=buffers)
        def decode_step(ids, position, mask, memory_keys, memory_values, cache_keys, cache_values):
            cache = KVCache((), _layers(cache_keys, cache_values))
            outputs, cache = step(ids, position, mask, memory_keys, memory_values, cache)
            keys, values = zip(*cache.tail, strict=True)
            return {
                **outputs,
                "cache_keys": tf.concat(keys, axis=0),
                "cache_values": tf.concat(values, axis=0),
            }

        return decode_step

    def _rated(self, source, ids, score):
        """Returns the outputs `score` and, if the translator estimates it, `quality`."""
        if not self._rate:
            return {"score": score}
        return {"score": score, "quality": self._rate(source, ids, score)}

    def _best_ids(self, source, count):
        """Returns ids and score of a source, by the shortest branch that fits `count` ids."""

        def within(length, find):
            def search():
                ids, score = find(beginning(source, length))
                missing = self._limits.target_length - self._search.most(length)
                padding = self._network.padding_id
                return tf.pad(ids, ((0, 0), (0, missing)), constant_values=padding), score

            return search

        return self._by_length(count, [*map(within, self._limits.lengths, self._searches)])

    def _traced_once(self, length):
        """Returns the search for one source, which two signatures share."""
        return tf.function(
            lambda source: self._search_ids(source, length),
            input_signature=[tf.TensorSpec((1, length), tf.int32)],
            autograph=False,
        )

    def _search_ids(self, source, length):
        runtime = runtime_for(*source.shape, self._search.options)
        real = tf.cast(tf.not_equal(source, self._network.padding_id), tf.int32)
        lengths, most = tf.reduce_sum(real, axis=1), self._search.most(length)
        output = self._search(self._network, source, lengths, runtime, most, select=self._shortlist)
        return output.ids[:, 0], output.scores[:, 0]


def runtime_for(batch_size: int, length: int, options: SearchOptions):
    """Returns the `kformer.decoding.runtime.Runtime` of a signature.

    A block costs some operations a step, and saves copies of a batch's cache: with 80 positions of
    the tiny model, it is 1.25 times as fast for 32 rows, and no faster for one; with 4 beams, 1.45
    times. Blocks of 8 take 3 to 6 % longer than blocks of 4, blocks of 16 more.

    Room for `length` positions at first is enough for most translations of so many ids: a sentence
    of the tiny model then takes 1.27 ms instead of 1.53 (14 steps, of 82 that there may be).
    """
    block = LITERT.block if batch_size * options.beam_size >= 16 else None
    compact = compact_in_halves if batch_size > 1 else None
    return LITERT._replace(block=block, capacities=(length,), compact_batch=compact)


def _layers(keys, values):
    """Splits keys and values (L, ...) into L `KeysValues` (1, ...)."""
    layers = (tf.split(stacked, stacked.shape[0], axis=0) for stacked in (keys, values))
    return tuple(map(KeysValues, *layers))


class TFLiteTranslatorExport:
    """The metadata, signatures and test vectors of a translator, for `export_tflite`.

    Args:
        translator: `kformer.Translator`.
        options: `SearchOptions`.

    Attributes:
        pocket: The class that runs the file.
        names: Names of its signatures.
        tokenizers: list of `kformer.Tokenizer`, which the file must be able to hold.
        about: dict of further metadata.
    """

    pocket = PocketTranslator
    names = TFLiteTranslatorSignatures.names

    def __init__(self, translator: Translator, options: SearchOptions):
        self._translator = translator
        self._options = options
        self.about = translator.about
        self.tokenizers = [translator.tokenizer, translator.target_tokenizer]

    def quantized(self, network: keras.Model, constant: Callable, bits: int):
        """Returns `network`, a `kformer.Transformer`, whose tables are rounded."""
        return with_quantized_embeddings(network, constant, bits)

    def signatures(
        self, network: keras.Model, limits: Limits, batch_size: int, constant: Callable
    ) -> TFLiteTranslatorSignatures:
        """Returns the signatures of `network`, whose tables of text are made by `constant`."""
        return TFLiteTranslatorSignatures(
            self._translator, network, limits, batch_size, constant, self._options
        )

    def metadata(self, limits: Limits) -> dict:
        """Returns the search, the sizes of the model and its special ids."""
        transformer = self._translator.transformer
        source, target = self.tokenizers
        shortlist, estimate = self._translator.shortlist, self._translator.quality_estimate
        config = transformer.get_config()
        sizes = ("num_layers", "d_model", "num_heads", "d_ff", "activation")
        return {
            "beam_size": self._options.beam_size,
            "length_penalty": self._options.length_penalty,
            "length_offset": self._options.length_offset,
            "search": self._options.changed,
            **{name: config[name] for name in sizes},
            "num_decoder_layers": transformer.decoder.num_layers,
            "decoder_cell": transformer.decoder_cell,
            "parameters": transformer.count_params(),
            "source_vocab_size": source.vocab_size,
            "target_vocab_size": target.vocab_size,
            "one_vocabulary": source.model == target.model,
            "aligns": source.model == target.model,
            **({"target_languages": source.language_ids} if source.language_ids else {}),
            **({"candidates": shortlist.most(limits.source_length)} if shortlist else {}),
            **({"quality_estimate": estimate.get_config()} if estimate else {}),
            "padding_id": source.padding_id,
            "unknown_id": source.unknown_id,
            "end_id": source.end_id,
            "target_padding_id": target.padding_id,
            "target_start_id": target.start_id,
            "target_end_id": target.end_id,
            "max_target_length": limits.target_length,
            "max_target_bytes": limits.target_bytes,
        }

    def answer(self, pocket: Any, text: str) -> dict:
        """Returns the answer of `pocket`, which runs the file, to a text, for a test vector."""
        [translation] = pocket.translate([text])
        return {"translation": translation}
