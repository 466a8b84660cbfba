"""Does on JAX, in a process of its own, what a test compares with TensorFlow.

Arguments: "step" and the path of an `.npz` file; or "run" or "start twice", and a folder.
"""

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

from kformer.training import Interrupted, MaskedCrossEntropy, Recipe, train
from kformer.training.kinds.translation_learner import compiled_transformer
from support import toy
from support.backend import compile_quickly
from support.training.same_run import assert_same_run


def recipe() -> Recipe:
    """That of `toy`, with all that is random, scored by BLEU."""
    numbers = {name[2:].replace("-", "_"): value for name, value in toy.RECIPE.items()}
    numbers |= {"dropout": 0.1, "piece_splitting": 0.1, "monitor": "bleu", "norm_first": True}
    return Recipe.named(numbers.pop("recipe"), **numbers)


def step(weights: list, ids) -> dict:
    """Returns the loss and the gradients of one step, with these weights, as arrays by name."""
    small = Recipe.named("quick", vocab_size=50, d_model=16, d_ff=24, num_heads=2)
    model = compiled_transformer(small)
    model((ids, ids))
    model.set_weights(weights)
    # The gradient is what a step of this optimizer subtracts.
    model.compile(keras.optimizers.SGD(1.0), MaskedCrossEntropy())
    before = [keras.ops.convert_to_numpy(one).copy() for one in model.trainable_variables]
    loss = model.train_on_batch((ids, ids), ids)
    after = map(keras.ops.convert_to_numpy, model.trainable_variables)
    gradients = [old - new for old, new in zip(before, after, strict=True)]
    return {"loss": loss, **{f"gradient {i}": one for i, one in enumerate(gradients)}}


class SignalAfter(keras.callbacks.Callback):
    """Sends SIGTERM to this process after a batch of the second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (1, 7):
            os.kill(os.getpid(), signal.SIGTERM)


def run(folder):
    """Trains into the subfolders "whole" and "resumed"; interrupts and resumes the second."""
    files = toy.write(folder)
    text = [files["train.de"], files["train.en"]]
    valid = [files["valid.de"], files["valid.en"]]
    whole, resumed = folder / "whole", folder / "resumed"
    translator = train(recipe(), *text, whole, *valid)
    try:
        train(recipe(), *text, resumed, *valid, callbacks=[SignalAfter()])
    except Interrupted as stopped:
        print(stopped)
    train(recipe(), *text, resumed, *valid)
    assert_same_run(resumed, whole)
    for line in translator.translate(toy.SOURCES[toy.HELD_OUT]):
        print("translation:", line)


class Compilations:
    """Counts how often the steps are compiled, and how many of them are read from the disk."""

    def __init__(self, folder):
        import jax

        self.folder, self.counts, self.files = folder, Counter(), set()
        jax.monitoring.register_event_duration_secs_listener(self._compiled)
        jax.monitoring.register_event_listener(lambda event, **_: self.counts.update([event]))

    def _compiled(self, event, _, fun_name="", **about):
        if event.endswith("/backend_compile_duration"):  # Also if it is read from the disk.
            self.counts[fun_name] += 1

    def print(self):
        """Prints the numbers since the last call as a line of JSON; those of files come last."""
        names = ("jit(train_step)", "jit(test_step)", "/jax/compilation_cache/cache_hits")
        files = {*self.folder.glob("jit_train_step-*-cache")}
        found = [self.counts[name] for name in names]
        print("compilations:", json.dumps([*found, len(files), len(files - self.files)]))
        self.counts, self.files = Counter(), files


def start_twice(folder):
    """Starts a run in the subfolder "run" and resumes it; prints how often steps were compiled."""
    compile_quickly()
    compilations = Compilations(folder / "run" / "checkpoints" / "compiled")
    files = toy.write(folder)
    text = [files[name] for name in ("train.de", "train.en", "valid.de", "valid.en")]
    sizes = {"vocab_size": 308, "d_model": 16, "d_ff": 24, "num_heads": 2}
    quick = Recipe.named("quick", **sizes, epochs=3, tokens_per_batch=512, max_length=16)
    for _ in range(2):
        try:
            train(quick, *text[:2], folder / "run", *text[2:], callbacks=[SignalAfter()])
        except Interrupted as stopped:
            print(stopped)
        compilations.print()


if __name__ == "__main__":
    what, path = sys.argv[1], Path(sys.argv[2])
    if what == "step":
        with np.load(path) as file:
            ids, *weights = (file[name] for name in file.files)
        np.savez(path, **step(weights, ids))
    else:
        {"run": run, "start twice": start_twice}[what](path)
