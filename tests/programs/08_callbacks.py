import keras
import numpy as np

import kformer

model = kformer.Transformer(30, num_layers=1, d_model=8, num_heads=2, d_ff=16)
model.compile(
    "adam", kformer.training.MaskedCrossEntropy(), metrics=[kformer.training.MaskedAccuracy()]
)
rng = np.random.default_rng(0)
source, target = rng.integers(4, 30, (40, 6)), rng.integers(4, 30, (40, 5))
inputs = {"source": source, "target": target}
history = model.fit(
    inputs,
    target,
    validation_split=0.2,
    epochs=3,
    verbose=0,
    callbacks=[
        keras.callbacks.EarlyStopping(patience=2),
        keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True),
        keras.callbacks.ReduceLROnPlateau(patience=1),
        keras.callbacks.CSVLogger("log.csv"),
    ],
).history
assert {"loss", "val_loss", "accuracy", "val_accuracy"} <= history.keys()
assert model.predict(inputs, verbose=0).shape == (40, 5, 30)
