import keras
import numpy as np

import kformer

model = keras.models.load_model("mixed.keras")
assert type(model) is kformer.Transformer and model.compute_dtype == "bfloat16"
answers = np.load("answers.npz")
ids = answers["ids"]
logits = keras.ops.convert_to_numpy(keras.ops.cast(model((ids, ids)), "float32"))
np.testing.assert_array_equal(logits, answers["logits"])
