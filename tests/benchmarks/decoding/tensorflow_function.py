"""What the contenders in TensorFlow share."""

import tensorflow as tf

from benchmarks.decoding.process import Settings
from benchmarks.decoding.workloads import words_of


def use_threads(number: int):
    """Lets TensorFlow use so many threads; to be called before anything else of it."""
    tf.config.threading.set_intra_op_parallelism_threads(number)
    tf.config.threading.set_inter_op_parallelism_threads(number)


class Function:
    """A contender whose function takes int32 (B, S) and gives int32 (B, T).

    A subclass has `load(settings)`, which returns that function.
    """

    def __init__(self, settings: Settings):
        use_threads(settings.threads)
        self._translate_ids = self.load(settings)

    def given(self, batch):
        return batch

    def translate(self, given):
        return [self._translate_ids(tf.constant(batch)).numpy() for batch in given]

    def rows(self, answer):
        return [words_of(row) for row in answer]
