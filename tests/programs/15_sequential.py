from pathlib import Path

import keras
import numpy as np

import kformer

model = keras.Sequential(
    [
        keras.Input((12, 16)),
        kformer.PositionalEncoding(),
        kformer.EncoderLayer(d_model=16, num_heads=4, d_ff=32),
        kformer.FeedForward(16, 32),
        keras.layers.Flatten(),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse")
waves = np.random.default_rng(0).normal(size=(32, 12, 16))
model.fit(waves, waves.mean(axis=(1, 2)), verbose=0)
assert model.get_layer("encoder_layer").num_heads == 4
model.summary()
Path("model.json").write_text(model.to_json())
model.save_weights("model.weights.h5")
np.savez("answers.npz", waves=waves, answers=model.predict(waves, verbose=0))
