import numpy as np

import kformer

settings = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
model = kformer.Transformer(30, **settings)
model.save_weights("transformer.weights.h5")
translator = kformer.load("translator.keras")
translator.save_weights("translator.weights.h5")
np.save("logits.npy", model((np.array([[7, 3]]), np.array([[2, 8]]))))
