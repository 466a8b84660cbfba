import keras

import kformer

translator = kformer.load("translator.keras")
encoder = kformer.TransformerEncoder.from_transformer(translator.transformer)
classifier = kformer.TextClassifier(translator.tokenizer, encoder, labels=["dog", "cat"])
classifier.classifier.encoder.trainable = False
classifier.compile(
    keras.optimizers.Adam(0.05),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
texts, labels = ["ein Hund", "eine Katze"] * 8, ["dog", "cat"] * 8
classifier.fit(texts, labels, epochs=20, verbose=0)
assert classifier.predict(texts[:2]).labels == labels[:2]
assert classifier(texts[:2]).labels == labels[:2]
assert classifier.evaluate(texts, labels, verbose=0, return_dict=True)["accuracy"] == 1
ids = classifier.tokenizer(["ein Hund"])
assert classifier.predict(ids, verbose=0).shape == (1, 2)
classifier.save("classifier.keras")
vectors = kformer.TextEncoder(translator.tokenizer, encoder)
assert vectors.predict(texts).shape == (16, translator.transformer.d_model)
vectors.save("encoder.keras")
