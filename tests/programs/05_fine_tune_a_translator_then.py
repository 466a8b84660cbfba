import keras

import kformer

translator = keras.models.load_model("best.keras")
assert type(translator) is kformer.Translator
assert translator(["ein Hund", "eine Katze"]) == ["a dog", "a cat"]
translator.fit(["ein Hund"], ["a dog"], verbose=0)
