"""Serves a SavedModel as TensorFlow Serving would: its loader, no Python of tensorflow-text.

python serve_saved_model.py FOLDER  < JSON [[signature, {input: texts}], ...]
                                    > JSON [{output: values}, ...]

Bytes that are no UTF-8 are lone surrogates in JSON.
"""

import json
import sys

import tensorflow as tf

from support.serving.operations import sentencepiece_library

folder = sys.argv[1]
requests = json.load(sys.stdin)
tf.load_op_library(str(sentencepiece_library()))


def listed(values):
    if isinstance(values, bytes):
        return values.decode("utf-8")
    return [listed(value) for value in values] if isinstance(values, list) else values


answers = []
graph = tf.Graph()
with tf.compat.v1.Session(graph=graph) as session:
    loaded = tf.compat.v1.saved_model.load(session, ["serve"], folder)
    for name, inputs in requests:
        signature = loaded.signature_def[name]
        fetched = session.run(
            {output: info.name for output, info in signature.outputs.items()},
            {
                signature.inputs[key].name: [
                    text.encode("utf-8", "surrogateescape") for text in texts
                ]
                for key, texts in inputs.items()
            },
        )
        answers.append({output: listed(values.tolist()) for output, values in fetched.items()})
assert "tensorflow_text" not in sys.modules
print(json.dumps(answers))
