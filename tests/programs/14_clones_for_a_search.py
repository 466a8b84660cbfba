import keras
import numpy as np

import kformer


def build(width, layers):
    ids = keras.Input((None,), dtype="int32")
    x = kformer.TokenEmbedding(30, width)(ids)
    x = kformer.Encoder(layers, d_model=width, num_heads=2, d_ff=2 * width)(x)
    return keras.Model(ids, keras.layers.Dense(2)(x[:, 0]))


ids = np.random.default_rng(0).integers(1, 30, (32, 6))
labels = ids[:, 0] % 2
losses = {}
for width in (8, 16):
    for layers in (1, 2):
        original = build(width, layers)
        model = keras.models.clone_model(original)
        model.set_weights(original.get_weights())
        np.testing.assert_array_equal(model(ids), original(ids))
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        losses[width, layers] = model.fit(ids, labels, verbose=0).history["loss"][0]
assert len(losses) == 4 and all(np.isfinite([*losses.values()]))
layer = keras.layers.deserialize(keras.layers.serialize(original.layers[2]))
assert type(layer) is kformer.Encoder and layer.num_layers == 2
