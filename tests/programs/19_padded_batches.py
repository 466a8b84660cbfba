import keras
import numpy as np
import tensorflow as tf

import kformer

rows = [[5, 6, 7, 8], [9, 10], [11, 12, 13]] * 8
ragged = tf.ragged.constant(rows)
labels = tf.constant([len(row) % 2 for row in rows])
batches = tf.data.Dataset.from_tensor_slices((ragged, labels)).batch(4)
batches = batches.map(lambda rows, labels: (rows.to_tensor(), labels))
more = tf.data.Dataset.from_generator(lambda: rows, output_signature=tf.TensorSpec([None], "int32"))
encoder = kformer.TransformerEncoder(20, num_layers=1, d_model=16, num_heads=2, d_ff=32)
model = kformer.SequenceClassifier(encoder, num_classes=2)
model.compile(
    "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
model.fit(batches, epochs=2, verbose=0)
[short, padded] = model(np.array([[9, 10]])), model(np.array([[9, 10, 0, 0]]))
np.testing.assert_allclose(short, padded, atol=1e-5)
predicted = model.predict(batches, verbose=0)
assert predicted.shape == (24, 2)
np.testing.assert_allclose(model.predict(more.padded_batch(6), verbose=0), predicted, atol=1e-5)
