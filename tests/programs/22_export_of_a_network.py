import keras
import numpy as np
import tensorflow as tf

import kformer

model = kformer.Transformer(30, num_layers=1, d_model=16, num_heads=2, d_ff=32)
ids = np.array([[7, 8, 3]], "int32")
expected = model((ids, ids))
model.export("network", verbose=False)
served = tf.saved_model.load("network")
[logits] = served.signatures["serving_default"](
    source=tf.constant(ids), target=tf.constant(ids)
).values()
np.testing.assert_allclose(logits, expected, atol=1e-5)

encoder = kformer.TransformerEncoder(30, num_layers=1, d_model=16, num_heads=2, d_ff=32)
inputs = keras.Input((None,), dtype="int32")
functional = keras.Model(inputs, encoder(inputs))
functional.export("encoder", verbose=False)
served = tf.saved_model.load("encoder")
np.testing.assert_allclose(served.serve(tf.constant(ids)), functional(ids), atol=1e-5)
