from pathlib import Path

import tensorflow as tf
import tensorflow_text  # noqa: F401

import kformer

expected = Path("expected.txt").read_text()
served = tf.saved_model.load("served/de-en/1")
serve = served.signatures["serving_default"]
assert serve(text=tf.constant(["ein Hund"]))["translation"].numpy()[0].decode() == expected
assert kformer.load("served/de-en").translate("ein Hund") == expected
assert kformer.load("de-en.tflite").translate("ein Hund") == expected
