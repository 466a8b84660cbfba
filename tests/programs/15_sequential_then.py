from pathlib import Path

import keras
import numpy as np

import kformer

model = keras.models.model_from_json(Path("model.json").read_text())
model.load_weights("model.weights.h5")
answers = np.load("answers.npz")
np.testing.assert_allclose(
    model.predict(answers["waves"], verbose=0), answers["answers"], atol=1e-5
)
assert isinstance(model.layers[1], kformer.EncoderLayer)
