"""Continues prompts in graph.

Axes: B batch, N sequences a prompt, T length of a continuation.
"""

import tensorflow as tf

from kformer.export.saved_model.graph.degenerate_in_graph import degenerate_flags
from kformer.export.saved_model.graph.searching import Searching
from kformer.text.prompts import TOO_LONG


class Continuing(Searching):
    """Continues prompts, each of the start id and pieces; one that is too long has no answer.

    Args:
        max_positions: Largest number of positions of a prompt and its continuation.
        network, search, tokenizer, most: See `Searching`.
    """

    output = "generation"

    def __init__(self, max_positions, *settings_of_searching):
        self._max_positions = max_positions
        super().__init__(*settings_of_searching)

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
