"""Trains a model, in a process of its own on two replicas, and dumps what came out.

Argument: the path of an `.npz` file.
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import tensorflow as tf

from kformer.training import Recipe, StopWhenDiverged, TokensPerSecond, WithAverage
from kformer.training.kinds.translation_learner import compiled_transformer

ROWS = 7, 8, 1, 4  # Odd ones, and one that only one replica has a share of.


def batches():
    """Batches whose two halves have different numbers of tokens."""
    rng = np.random.RandomState(0)
    for rows in ROWS:
        ids = rng.randint(4, 50, (rows, 9)).astype("int32")
        lengths = np.sort(rng.randint(2, 10, rows))
        ids[np.arange(9) >= lengths[:, None]] = 0
        yield (ids, ids), ids


class Judge(keras.callbacks.Callback):
    """Notes a weight as those callbacks see it that judge the average."""

    def on_epoch_end(self, epoch, logs=None):
        self.seen = np.array(keras.ops.convert_to_numpy(self.model.trainable_variables[0]))


def train(strategy) -> dict:
    """Returns logs, weights and averages by name, after two epochs under the strategy."""
    spec = tf.TensorSpec((None, None), tf.int32)
    data = tf.data.Dataset.from_generator(batches, output_signature=((spec, spec), spec))
    data = data.apply(tf.data.experimental.assert_cardinality(len(ROWS)))
    keras.utils.set_random_seed(0)
    recipe = Recipe.named("quick", vocab_size=50, d_model=16, d_ff=24, dropout=0.0, warmup_steps=4)
    judge = Judge()
    with strategy.scope():
        model = compiled_transformer(recipe)
        callbacks = [TokensPerSecond(), StopWhenDiverged(), WithAverage([judge])]
        history = model.fit(
            data, validation_data=data, epochs=2, shuffle=False, verbose=0, callbacks=callbacks
        ).history
    found = {f"logs/{name}": values for name, values in history.items() if name != "tokens/s"}
    found["judged"] = judge.seen
    for name, variables in [
        ("weight", model.trainable_variables),
        ("average", model.optimizer.averages),
    ]:
        for variable, weight in zip(variables, model.trainable_variables, strict=True):
            found[f"{name}/{weight.path}"] = keras.ops.convert_to_numpy(variable)
    return found


def accumulate(strategy) -> str:
    """Returns what is said of gradients that are to be accumulated."""
    try:
        with strategy.scope():
            compiled_transformer(Recipe.named("quick", vocab_size=50, gradient_accumulation=2))
    except ValueError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    replicas = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    np.savez(sys.argv[1], **train(replicas), message=accumulate(replicas))
