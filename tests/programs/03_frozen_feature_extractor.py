import keras
import numpy as np

import kformer

encoder = kformer.TransformerEncoder(50, num_layers=1, d_model=16, num_heads=2, d_ff=32)
encoder.trainable = False
ids = keras.Input((None,), dtype="int32")
features = keras.layers.GlobalMaxPooling1D()(encoder(ids))
model = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(features))
model.compile("adam", "binary_crossentropy")
before = [weight.copy() for weight in encoder.get_weights()]
texts = np.random.default_rng(0).integers(1, 50, (16, 5))
model.fit(texts, texts[:, :1] % 2, verbose=0)
for one, other in zip(before, encoder.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)
assert len(model.trainable_weights) == 2
