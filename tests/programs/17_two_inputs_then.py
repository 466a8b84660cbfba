import numpy as np

import kformer

answers = np.load("answers.npz")
model = kformer.load("model.keras")
logits = model.predict({"ids": answers["ids"], "age": np.ones((32, 1))}, verbose=0)
np.testing.assert_allclose(logits, answers["logits"], atol=1e-5)
