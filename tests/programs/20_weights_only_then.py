import numpy as np

import kformer

settings = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
model = kformer.Transformer(30, **settings)
model.load_weights("transformer.weights.h5")
logits = model((np.array([[7, 3]]), np.array([[2, 8]])))
np.testing.assert_allclose(logits, np.load("logits.npy"), atol=1e-6)
translator = kformer.load("translator.keras")
expected = translator.translate(["ein Hund"])
for weight in translator.weights:
    weight.assign(weight * 0)
translator.load_weights("translator.weights.h5")
assert translator.translate(["ein Hund"]) == expected
