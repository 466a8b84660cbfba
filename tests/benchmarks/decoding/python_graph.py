"""kformer in Python: the function that `kformer.Translator` traces, from ids to ids."""

import keras
import tensorflow as tf

from benchmarks.decoding.process import serve
from benchmarks.decoding.search import limited_to, search_of
from benchmarks.decoding.tensorflow_function import Function
from kformer.decoding.batch_decoder import sequential
from kformer.decoding.search_ids import search_ids


class PythonGraph(Function):
    def load(self, settings):
        limited_to(settings.workload.extra_length)
        transformer = keras.saving.load_model(settings.model, compile=False)
        search = search_of(settings.beam_size)

        def best_ids(source):
            return search_ids(transformer, source, search).ids[:, 0]

        return sequential(best_ids, [tf.TensorSpec([None, None], tf.int32)])


if __name__ == "__main__":
    serve(PythonGraph)
