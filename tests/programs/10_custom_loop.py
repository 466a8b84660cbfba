import keras
import numpy as np
import tensorflow as tf

import kformer

keras.mixed_precision.set_global_policy("mixed_bfloat16")
model = kformer.Transformer(30, num_layers=1, d_model=8, num_heads=2, d_ff=16)
assert model.compute_dtype == "bfloat16" and model.variable_dtype == "float32"
model.summary()
loss, optimizer = kformer.training.MaskedCrossEntropy(), keras.optimizers.Adam(0.01)
ids = np.random.default_rng(0).integers(4, 30, (16, 6))


@tf.function
def step(source, target):
    with tf.GradientTape() as tape:
        value = loss(target[:, 1:], model((source, target[:, :-1]), training=True))
    gradients = tape.gradient(value, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return value


losses = [float(step(tf.constant(ids), tf.constant(ids))) for _ in range(8)]
assert losses[-1] < losses[0]
model.save("mixed.keras")
np.savez("answers.npz", ids=ids, logits=keras.ops.cast(model((ids, ids)), "float32"))
