import keras
import numpy as np
import tensorflow as tf

import kformer


class Copier(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = kformer.TokenEmbedding(40, 16)
        self.encoder = kformer.Encoder(num_layers=1, d_model=16, num_heads=2, d_ff=32)

    def call(self, ids, training=None):
        vectors = self.encoder(self.embedding(ids), training=training)
        return self.embedding.logits(vectors)

    def train_step(self, data):
        ids, answers = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(ids, answers, self(ids, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        for metric in self.metrics:
            metric.update_state(loss)
        return {metric.name: metric.result() for metric in self.metrics}


model = Copier()
model.compile(keras.optimizers.Adam(0.01), kformer.training.MaskedCrossEntropy())
ids = np.random.default_rng(0).integers(1, 40, (64, 5))
losses = model.fit(ids, ids, epochs=20, verbose=0).history["loss"]
assert losses[-1] < losses[0]
