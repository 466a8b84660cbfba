import keras
import numpy as np

import kformer

assert keras.backend.backend() == "tensorflow"
answers = np.load("answers.npz")
ids = answers["ids"]
model = kformer.load("model.keras")
np.testing.assert_allclose(model.predict([ids, ids], verbose=0), answers["logits"], atol=1e-4)
