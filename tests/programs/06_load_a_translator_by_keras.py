import keras

import kformer

translator = keras.models.load_model("translator.keras")
print(translator.translate("ein Hund"))
assert type(translator) is kformer.Translator
translator.save("copy.keras")
keras.saving.save_model(translator, "other.keras")
