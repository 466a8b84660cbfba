import keras
import numpy as np

import kformer

model = keras.models.load_model("best.keras")
ids = np.full((8, 5), 7)
assert model.evaluate({"source": ids, "target": ids}, ids, verbose=0, return_dict=True)["loss"] > 0
model.fit({"source": ids, "target": ids}, ids, verbose=0)
assert isinstance(model, kformer.Transformer)
