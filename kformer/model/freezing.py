"""Which parts of a layer are frozen, kept when it is saved.

Keras writes `trainable` for the outermost layer alone, and creates the others anew.
"""

import keras


def frozen_parts(layer) -> list[str]:
    """Returns the paths of the layers in `layer` that are not trainable."""
    return [path for path, part in _parts(layer).items() if not part.trainable]


def freeze_parts(layer, frozen):
    """Makes the layers in a built `layer` trainable, but for those that `frozen_parts` returned.

    Args:
        frozen: A list of paths; None of a file without such a list, in which a layer may be frozen
            without its own parts.
    """
    for path, part in _parts(layer).items():  # A part's own parts follow it.
        wanted = part.trainable if frozen is None else path not in frozen
        if not (wanted and part.trainable):
            part.trainable = True  # On TensorFlow, setting what is set would not reach its parts.
            part.trainable = wanted


def _parts(layer) -> dict:
    """Returns the layers in `layer` by path, as "encoder/layers/0/norm": outer ones first."""
    found = {}
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        several = value if isinstance(value, list | tuple) else [value]
        for i, part in enumerate(several):
            if not isinstance(part, keras.layers.Layer) or part in found.values():
                continue
            path = name if part is value else f"{name}/{i}"
            inner = {f"{path}/{below}": one for below, one in _parts(part).items()}
            found |= {path: part, **inner}
    return found
