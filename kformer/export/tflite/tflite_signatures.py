"""The signatures that every kind of model has in a `.tflite` file, and its static sizes.

Inputs and outputs are int32, uint8 or float32, of static shapes: LiteRT.js supports no other.

Axes: S most ids of a source, D d_model.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from kformer.arguments import check_integer
from kformer.export.byte_codec.codec import ByteCodec
from kformer.inference.search_options import SearchOptions
from kformer.kinds import known_kind
from kformer.pocket.pocket_model import SOURCE_CUT
from kformer.tasks.language_model import LanguageModel
from kformer.tasks.text_model import TextModel, sentence_vectors
from kformer.text.tokenizer import Tokenizer


class TFLiteSignatures:
    """The functions to save, by name; base class.

    Args:
        tokenizer: `kformer.Tokenizer` of the source.
        network: The network whose answers they give.
        limits: `Limits`.
        constant: Makes a tensor of a table, such as `tflite_graph.stand_ins.StandIns.constant`.

    Attributes:
        names: Names of all signatures except for batches, the default one first.
        functions: dict of the signatures by name, the default one first.
        batches: dict name -> (B, S) of signatures for rows of ids, if there are batches.
    """

    names: tuple[str, ...] = ()
    _starts: np.ndarray | None = (
        None  # Which ids begin a word, uint8 (V,), where alignments need it.
    )

    def __init__(self, tokenizer: Tokenizer, network: keras.Model, limits: Any, constant: Callable):
        self._network, self._limits, self._constant = network, limits, constant
        self._source = ByteCodec(tokenizer, constant)
        # A text of a model with several target languages comes with the id of one of them.
        self._text_inputs = {"source": ((limits.source_bytes,), tf.uint8)}
        if tokenizer.target_languages:
            self._text_inputs["target_language"] = ((1,), tf.int32)
        self.functions: dict[str, Any] = {}
        self.batches: dict[str, tuple[int, int]] = {}

    def keep_only(self, chosen: Collection[str]):
        """Leaves out signatures that are neither chosen nor needed by `kformer.pocket`."""
        needed = {self.names[0], "tokenize", *chosen, *self.batches}
        if self.batches:
            needed.add("detokenize")
        self.functions = {name: self.functions[name] for name in self.functions if name in needed}

    def _add_functions(self, name, function_of, batch_size):
        """Adds all signatures, and NAME_BxS for `batch_size` sources at once, if it is over 1.

        Args:
            function_of: (batch_size, length) -> the function.
        """
        self.functions = {name: getattr(self, f"_{name}")() for name in self.names}
        if batch_size > 1:
            self.batches[name] = (1, self._limits.source_length)
            for length in self._limits.lengths:
                signature_name = f"{name}_{batch_size}x{length}"
                self.batches[signature_name] = (batch_size, length)
                self.functions[signature_name] = function_of(batch_size, length)

    def _encode_text(self):
        @signature(**self._text_inputs)
        def encode_text(source, target_language=None):
            tokens = self._source.tokenize(source, self._limits.source_length, target_language)
            ids = self._read(tf.expand_dims(tokens.ids, 0))

            def encoded(length):
                return lambda: sentence_vectors(self._network, beginning(ids, length))

            text_vector = self._by_length(tokens.count, [*map(encoded, self._limits.lengths)])
            truncated = SOURCE_CUT * tf.cast(tokens.cut, tf.int32)
            return {"vector": tf.reshape(text_vector, [-1]), "truncated": vector(truncated)}

        return encode_text

    def _tokenize(self):
        @signature(**self._text_inputs)
        def tokenize(source, target_language=None):
            tokens = self._source.tokenize(source, self._limits.source_length, target_language)
            ids = tf.expand_dims(tokens.ids, 0)
            starts = {}
            if self._starts is not None:
                starts["word_starts"] = tf.gather(self._constant(self._starts), ids)
            return {
                "ids": ids,
                "count": vector(tokens.count),
                "truncated": vector(SOURCE_CUT * tf.cast(tokens.cut, tf.int32)),
                **starts,
            }

        return tokenize

    def _read(self, source):
        """Returns the ids that the network reads for rows of pieces and the end id, (B, S)."""
        return source

    def _count(self, source):
        """Returns the number of ids of one row, int32 ()."""
        real = tf.not_equal(source, self._network.padding_id)
        return tf.reduce_sum(tf.cast(real, tf.int32))

    def _by_length(self, count, branches):
        """Runs the first of `branches`, one for each length, that has room for `count` ids."""
        *shorter, longest = zip(self._limits.lengths, branches, strict=True)
        _, shortest = longest
        for length, branch in reversed(shorter):
            shortest = _either(count <= length, branch, shortest)
        return shortest()


def signature(**inputs: tuple):
    """Returns a decorator that traces a function with inputs name -> (shape, dtype)."""
    specs = [tf.TensorSpec(shape, dtype, name) for name, (shape, dtype) in inputs.items()]
    return tf.function(input_signature=specs, autograph=False)


def beginning(ids: tf.Tensor, length: int):
    """Returns the first `length` ids of one row, int32 (1, length)."""
    return tf.slice(ids, [0, 0], [1, length])


def vector(number: tf.Tensor):
    """Returns a number as a vector (1,): LiteRT.js supports no scalars."""
    return tf.reshape(number, (1,))


def _either(condition, first, second):
    return lambda: tf.cond(condition, first, second)


LONGEST = 128  # Default limit of a source, in ids.
BYTES_PER_ID = 6  # Capacity for text; pieces have about 4.5.
# Source lengths with a branch of their own, because padding costs time: with a branch for 16 ids, a
# caption of 13 takes 0.94 of the time with the tiny model, and 0.83 with base.
SHORTER = (16, 32, 64, 128, 256)


class Limits(NamedTuple):
    """The static sizes from which the shapes of all tensors follow."""

    source_length: int  # S, ids
    target_length: int  # T, ids
    source_bytes: int
    target_bytes: int

    @property
    def lengths(self) -> list[int]:
        """Source lengths that have their own branch or batch signature, ascending."""
        return [*(short for short in SHORTER if short < self.source_length), self.source_length]


def limits_of(
    model: TextModel, max_source_length: int | None = None, options: SearchOptions | None = None
) -> Limits:
    """Returns the sizes of a file.

    Args:
        options: Options of the search, which may limit the lengths of answers; None for the
            defaults.
    """
    if max_source_length is None:
        max_source_length = min(LONGEST, model.max_source_length)
    check_integer("max_source_length", max_source_length)
    if not 2 <= max_source_length <= model.max_source_length:
        raise ValueError(
            "`max_source_length` must be at least 2, for a piece and the end id, and at most the "
            f"{known_kind(model).words}'s {model.max_source_length}. "
            f"Received: max_source_length={max_source_length}."
        )
    options = options or SearchOptions()
    most = max(options.limit(length) for length in range(2, max_source_length + 1))
    if isinstance(model, LanguageModel):
        most = model.max_length  # Of a prompt and its continuation together.
    return Limits(max_source_length, most, BYTES_PER_ID * max_source_length, BYTES_PER_ID * most)
