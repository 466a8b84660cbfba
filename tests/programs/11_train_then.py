import keras

import kformer

translator = keras.models.load_model("run/translator.keras")
assert translator("ein Hund") == kformer.load("run").translate("ein Hund")
