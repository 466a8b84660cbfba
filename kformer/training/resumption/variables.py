"""The variables of a model and its optimizer, as the arrays of a checkpoint.

Variables come in groups: "model", "optimizer" and "metrics".
"""

from typing import Any

import keras
from keras import ops


def build(model: keras.Model, batches: Any):
    """Creates the variables that Keras would create at the first batch of `batches`."""
    smallest = keras.tree.map_structure(  # Two rows, as consistency training makes of an example.
        lambda spec: ops.zeros([size or 2 for size in spec.shape], spec.dtype.name),
        batches.element_spec,
    )
    x, y, weight = keras.utils.unpack_x_y_sample_weight(smallest)
    model.compute_metrics(x, y, model(x), weight)
    model.optimizer.build(model.trainable_variables)


def to_arrays(groups: dict) -> dict:
    """Returns the values of the variables in `groups`, by names such as "model/0"."""
    return {
        f"{name}/{i}": ops.convert_to_numpy(variable)
        for name, group in groups.items()
        for i, variable in enumerate(group)
    }


def assign(groups: dict, arrays: dict):
    """Assigns the arrays that `to_arrays` returned to the variables in `groups`."""
    named = {
        f"{name}/{i}": variable
        for name, group in groups.items()
        for i, variable in enumerate(group)
    }
    have = {name: array.shape for name, array in arrays.items() if name.split("/")[0] in groups}
    need = {name: tuple(variable.shape) for name, variable in named.items()}
    if have != need:
        differs = sorted(name for name in {*have, *need} if have.get(name) != need.get(name))[0]
        raise ValueError(
            "A checkpoint must be one of the same model, optimizer and metrics. Received: "
            f"{differs} of shape {have.get(differs)} for shape {need.get(differs)}."
        )
    for name, variable in named.items():
        variable.assign(arrays[name])
