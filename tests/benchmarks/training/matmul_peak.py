"""The machine's peak: TensorFlow's product of two big square matrices, again and again."""

import tensorflow as tf

from benchmarks.training.process import serve

WIDTH = 4096
PRODUCTS = 4  # In a round.


def train(size, dtype, options, batches, rounds):
    """Multiplies instead of training; reports how many floating-point operations a round has."""
    product = tf.function(tf.linalg.matmul)
    left, right = (tf.cast(tf.random.normal((WIDTH, WIDTH)), dtype) for _ in range(2))
    while True:
        rounds.begin()
        for _ in range(PRODUCTS):
            result = product(left, right)
        float(result[0, 0])  # Waits for it.
        rounds.end(flops=2 * WIDTH**3 * PRODUCTS)


if __name__ == "__main__":
    serve(train)
