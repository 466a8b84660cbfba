import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

import kformer

source, target = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
memory = kformer.TransformerEncoder(30, num_layers=1, d_model=8, num_heads=2, d_ff=16)(source)
y = kformer.TokenEmbedding(30, 8)(target)
y = kformer.Decoder(num_layers=1, d_model=8, num_heads=2, d_ff=16)(y, memory)
model = keras.Model([source, target], keras.layers.Dense(30)(y))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
ids = np.random.default_rng(0).integers(1, 30, (16, 5))
model.fit([ids, ids], ids, verbose=0)
model.save("model.keras")
np.savez("answers.npz", ids=ids, logits=model.predict([ids, ids], verbose=0))
