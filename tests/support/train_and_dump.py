"""Trains as a script would, and leaves every variable beside the run: OUTPUT JSON, see `main`."""

import json
import sys
from pathlib import Path

import keras
import numpy as np

from kformer.training import Recipe, train


class Dump(keras.callbacks.Callback):
    """Writes all variables of the model and of its optimizer, by their order, at the end."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_train_end(self, logs=None):
        variables = [*self.model.variables, *self.model.optimizer.variables]
        np.savez(self.path, *[variable.numpy() for variable in variables])


def main(output, recipe, **options):
    """Trains with a checkpoint after every batch, or nearly."""
    output = Path(output)
    dump = Dump(output.parent / "variables.npz")
    train(Recipe(**recipe), output=output, checkpoint_seconds=0, callbacks=[dump], **options)


if __name__ == "__main__":
    main(sys.argv[1], **json.loads(sys.argv[2]))
