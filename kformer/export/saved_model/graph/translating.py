"""Translates rows of ids in graph.

Axes: B batch, N sequences a text, T target length.
"""

import tensorflow as tf

from kformer.arguments import UNKNOWN_LANGUAGE
from kformer.decoding.options import EXTRA_LENGTH
from kformer.export.saved_model.graph.degenerate_in_graph import degenerate_flags
from kformer.export.saved_model.graph.searching import Searching


class Translating(Searching):
    """Translates sources, each of pieces and the end id.

    The translation of a blank one is empty, as is one into an unknown language.
    """

    output = "translation"

    def _longest(self, length):
        return length + EXTRA_LENGTH

    def _has_answer(self, ids, flags):
        there = (ids.row_lengths() > 1)[:, tf.newaxis]
        for name, raised in flags.items():
            if name.startswith(UNKNOWN_LANGUAGE):
                there &= ~raised
        return there

    def _degenerate(self, source, ids, rows, lengths, number):
        of_source = tf.repeat(tf.cast(ids.row_lengths(), tf.int32) - 1, number)  # Without the end.
        return degenerate_flags(tf.repeat(source, number, axis=0), of_source, rows, lengths)

    def _whole(self, ids, rows, number):
        return rows
