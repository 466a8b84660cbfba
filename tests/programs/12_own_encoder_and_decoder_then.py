import keras
import numpy as np

import kformer

answers = np.load("answers.npz")
inputs = [answers["sources"], answers["targets"]]
for load in (keras.models.load_model, kformer.load):
    np.testing.assert_allclose(
        load("model.keras").predict(inputs, verbose=0), answers["logits"], atol=1e-5
    )
