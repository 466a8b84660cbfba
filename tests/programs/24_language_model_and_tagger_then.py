import keras

import kformer

language_model = keras.models.load_model("model.keras")
assert type(language_model) is kformer.LanguageModel
assert language_model(["ein"]) == ["ein Hund"]
tagger = keras.models.load_model("tagger.keras")
assert tagger(["eine Katze"])[0].labels == ["O", "B-X"]
assert type(kformer.load("model.keras")) is kformer.LanguageModel
