"""kformer's SavedModel, compiled or not: what TensorFlow Serving runs, from ids to ids."""

import tensorflow as tf

from benchmarks.decoding.process import serve
from benchmarks.decoding.tensorflow_function import Function


class SavedModel(Function):
    def load(self, settings):
        self._model = tf.saved_model.load(str(settings.model))  # Its functions do not keep it.
        signature = self._model.signatures["serving_default"]
        return lambda source: signature(source=source)["ids"]


if __name__ == "__main__":
    serve(SavedModel)
