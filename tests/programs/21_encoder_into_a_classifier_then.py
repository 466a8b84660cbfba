import keras

import kformer

classifier = keras.models.load_model("classifier.keras")
assert type(classifier) is kformer.TextClassifier
assert classifier(["ein Hund", "eine Katze"]).labels == ["dog", "cat"]
assert not classifier.classifier.encoder.trainable
encoder = keras.models.load_model("encoder.keras")
assert encoder(["ein Hund"]).shape == encoder.encode(["ein Hund"]).shape
