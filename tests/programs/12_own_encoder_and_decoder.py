import keras
import numpy as np

import kformer

source, target = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
positions = kformer.PositionalEncoding()
x = kformer.Encoder(num_layers=1, d_model=16, num_heads=2, d_ff=32)(
    positions(keras.layers.Embedding(40, 16, mask_zero=True)(source))
)
y = kformer.Decoder(num_layers=1, d_model=16, num_heads=2, d_ff=32)(
    positions(keras.layers.Embedding(40, 16, mask_zero=True)(target)), x
)
model = keras.Model([source, target], keras.layers.Dense(40)(y))
model.compile(
    keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
rng = np.random.default_rng(0)
sources, targets = rng.integers(1, 40, (512, 6)), rng.integers(1, 40, (512, 7))
model.fit([sources, targets[:, :-1]], targets[:, 1:], epochs=8, batch_size=64, verbose=0)
fresh_sources, fresh = rng.integers(1, 40, (512, 6)), rng.integers(1, 40, (512, 7))
loss = model.evaluate([fresh_sources, fresh[:, :-1]], fresh[:, 1:], verbose=0)
assert loss > np.log(39) - 0.01, "No honest model predicts random ids."
changed = targets.copy()
changed[:, -1] = changed[:, -1] % 39 + 1
before, after = (model.predict([sources, ids], verbose=0) for ids in (targets, changed))
np.testing.assert_allclose(before[:, :-1], after[:, :-1], atol=1e-5)
try:
    kformer.MultiHeadAttention(num_heads=4, key_dim=4)
except TypeError as error:
    assert "MultiHeadAttention(d_model=16, num_heads=4)" in str(error)
try:
    kformer.PositionalEncoding(50, 16)
except TypeError as error:
    assert "PositionalEncoding()" in str(error)
model.save("model.keras")
np.savez("answers.npz", sources=sources, targets=targets, logits=before)
