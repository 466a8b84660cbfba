"""Serves a SavedModel as TensorFlow Serving would: its loader, no Python of tensorflow-text.

python serve_saved_model.py FOLDER  < a JSON list of texts  > a JSON list of translations
"""

import importlib.util
import json
import sys
from pathlib import Path

import tensorflow as tf

folder = sys.argv[1]
texts = json.load(sys.stdin)
tensorflow_text = Path(importlib.util.find_spec("tensorflow_text").origin).parent
[ops] = tensorflow_text.rglob("_sentencepiece_tokenizer.so")
tf.load_op_library(str(ops))

graph = tf.Graph()
with tf.compat.v1.Session(graph=graph) as session:
    loaded = tf.compat.v1.saved_model.load(session, ["serve"], folder)
    signature = loaded.signature_def["serving_default"]
    translations = session.run(
        signature.outputs["translation"].name, {signature.inputs["text"].name: texts}
    )
assert "tensorflow_text" not in sys.modules
print(json.dumps([translation.decode("utf-8") for translation in translations]))
