import keras
import numpy as np

import kformer

tokenizer = kformer.load("translator.keras").tokenizer
sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
decoder = kformer.TransformerDecoder(tokenizer.vocab_size, **sizes)
language_model = kformer.LanguageModel(tokenizer, decoder, max_length=24)
language_model.compile(keras.optimizers.Adam(0.01), kformer.training.MaskedCrossEntropy())
losses = language_model.fit(["ein Hund"] * 16, epochs=30, verbose=0).history["loss"]
assert losses[-1] < losses[0]
assert language_model.predict(["ein"]).tolist() == language_model.generate(["ein"])
assert language_model(["ein"]) == ["ein Hund"]
language_model.save("model.keras")

encoder = kformer.TransformerEncoder(tokenizer.vocab_size, **sizes)
tagger = kformer.TextTagger(tokenizer, encoder, labels=["O", "B-X"])
tagger.compile(
    keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
tagger.fit(["ein Hund", "eine Katze"] * 8, [["O", "B-X"]] * 16, epochs=20, verbose=0)
[tagging] = tagger(["ein Hund"])
assert tagging.labels == ["O", "B-X"] == tagger.predict(["ein Hund"])[0].labels
tagger.save("tagger.keras")
try:
    kformer.TextEncoder(tokenizer, encoder).fit(["ein Hund"], ["a dog"])
except TypeError as error:
    assert "TextClassifier" in str(error)
assert np.shape(language_model(np.array([[2, 5]]))) == (1, 2, tokenizer.vocab_size)
