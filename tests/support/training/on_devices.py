"""Trains on several numbers of the eight devices that JAX simulates, in a process of its own.

Arguments: a folder with the text of `toy`, which gets a file `NUMBER-SHARING.npz` with the losses
and the weights of each run; and the runs, such as "8-1" for eight devices with a model each, or
"8-4" for eight devices of which four share one.
"""

import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
if __name__ == "__main__":  # A test imports this file, too, for its path.
    os.environ["KERAS_BACKEND"] = "jax"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import keras
import numpy as np
import tensorflow as tf

from kformer import Tokenizer
from kformer.training import Recipe, translation_dataset
from kformer.training.kinds.translation_learner import compiled_transformer
from kformer.training.parallel.devices import check_fits, distribute

SIZES = {"vocab_size": 308, "num_layers": 1, "d_model": 16, "num_heads": 4, "d_ff": 24}


def train(files, tokenizer, devices, model_parallel):
    """Returns the losses of two passes, and the weights by path."""
    recipe = Recipe.named("quick", **SIZES, dropout=0.1, gradient_accumulation=2, max_length=24)
    keras.utils.set_random_seed(0)
    with distribute(devices, model_parallel):
        check_fits(recipe, {"vocab_size": recipe.vocab_size})
        batches = translation_dataset(*files, tokenizer, tokens_per_batch=512, max_length=24)
        # Batches of one shape, to compile only once.
        batches = batches.filter(lambda sides, target: tf.shape(target)[1] == 20)
        model = compiled_transformer(recipe)
        losses = model.fit(batches, epochs=2, verbose=0).history["loss"]
        (table,) = (one.value for one in model.variables if one.path == "source_embedding/table")
        assert len(table.addressable_shards) == devices
        assert table.addressable_shards[0].data.shape == (308 // model_parallel, 16)
        weights = {one.path: keras.ops.convert_to_numpy(one) for one in model.weights}
        return losses, {path: one for path, one in weights.items() if "seed" not in path}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    files = [folder / "train.de", folder / "train.en"]
    tokenizer = Tokenizer.train(files, SIZES["vocab_size"])
    for run in sys.argv[2:]:
        losses, weights = train(files, tokenizer, *map(int, run.split("-")))
        np.savez(folder / f"{run}.npz", losses=losses, **weights)
