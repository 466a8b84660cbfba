import keras
import numpy as np

import kformer

ids = keras.Input((None,), dtype="int32", name="ids")
age = keras.Input((1,), name="age")
decoder = kformer.TransformerDecoder(40, num_layers=1, d_model=16, num_heads=2, d_ff=32)
logits = decoder(ids)
bias = keras.layers.RepeatVector(6)(keras.layers.Dense(40)(age))
model = keras.Model({"ids": ids, "age": age}, logits + bias)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
texts = np.random.default_rng(0).integers(4, 40, (32, 7))
texts[:, 0] = 2
inputs = {"ids": texts[:, :-1], "age": np.ones((32, 1))}
model.fit(inputs, texts[:, 1:], verbose=0)
later = texts.copy()
later[:, -2] = 5
before, after = (
    model.predict({"ids": rows[:, :-1], "age": inputs["age"]}, verbose=0) for rows in (texts, later)
)
np.testing.assert_allclose(before[:, :-1], after[:, :-1], atol=1e-5)
model.save("model.keras")
np.savez("answers.npz", ids=texts[:, :-1], logits=before)
