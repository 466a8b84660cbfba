import keras

import kformer

translator = kformer.load("translator.keras")
translator.compile(keras.optimizers.Adam(0.01), kformer.training.MaskedCrossEntropy())
sources, targets = ["ein Hund", "eine Katze"] * 8, ["a dog", "a cat"] * 8
history = translator.fit(
    sources,
    targets,
    batch_size=4,
    epochs=30,
    verbose=0,
    validation_data=(sources[:2], targets[:2]),
    callbacks=[keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)],
).history
assert history["val_loss"][-1] < history["val_loss"][0]
assert translator(sources[:2]) == targets[:2], translator(sources[:2])
assert translator.evaluate(sources, targets, verbose=0) < history["loss"][0]

batches = kformer.training.translation_dataset(
    "text.de", "text.en", translator.tokenizer, tokens_per_batch=256
)
translator.fit(batches, epochs=1, verbose=0)
translator.transformer.compile("adam", kformer.training.MaskedCrossEntropy())
translator.transformer.fit(batches, epochs=1, verbose=0)
try:
    translator.model.fit(batches)
except AttributeError as error:
    assert "`transformer`" in str(error)
