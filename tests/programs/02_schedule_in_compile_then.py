import numpy as np

import kformer  # isort: skip
import keras  # After kformer.

model = keras.models.load_model("model.keras")
assert type(model) is kformer.Transformer
assert type(model.loss).__name__ == "MaskedCrossEntropy"
steps = int(model.optimizer.iterations)
ids = np.full((8, 4), 7)
model.fit((ids, ids), ids, verbose=0)
assert int(model.optimizer.iterations) == steps + 1
