"""Dense layers: their weights after `quantize` and `enable_lora`, and the parts that are frozen.

Both methods change the meaning of a layer's variables. So only this file and
`kformer.decoding.layer_step` read the weights of a Dense layer; everything else calls it. Keras
saves `trainable` for the outermost layer alone, so the config of a network lists its frozen parts.

Axes: D width of the inputs, F width of the outputs.
"""

import contextlib
import gc
import weakref
from collections.abc import Collection
from typing import Any

import keras
from keras import ops

from kformer.backend import is_tensorflow

# The Dense layers of each layer; for `form_of`.
_LISTED: weakref.WeakKeyDictionary[keras.layers.Layer, tuple] = weakref.WeakKeyDictionary()


def frozen_parts(layer: keras.layers.Layer) -> list[str]:
    """Returns the paths of the layers in `layer` that are not trainable."""
    return [path for path, part in _parts(layer).items() if not part.trainable]


def freeze_parts(layer: keras.layers.Layer, frozen: Collection[str] | None):
    """Makes the layers in a built `layer` trainable, but for those that `frozen_parts` returned.

    Args:
        frozen: A list of paths; None for a file without such a list, in which a layer may be frozen
            without its own parts.
    """
    for path, part in _parts(layer).items():  # A part's own parts follow it.
        wanted = part.trainable if frozen is None else path not in frozen
        if not (wanted and part.trainable):
            part.trainable = True  # On TensorFlow, setting what is set would not reach its parts.
            part.trainable = wanted


def _parts(layer) -> dict[str, keras.layers.Layer]:
    """Returns the layers in `layer` by path, as "encoder/layers/0/norm": outer ones first."""
    parts: dict[str, keras.layers.Layer] = {}
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        several = value if isinstance(value, list | tuple) else [value]
        for i, part in enumerate(several):
            if not isinstance(part, keras.layers.Layer) or part in parts.values():
                continue
            path = name if part is value else f"{name}/{i}"
            inner = {f"{path}/{below}": layer for below, layer in _parts(part).items()}
            parts |= {path: part, **inner}
    return parts


class HoldsDense(keras.layers.Layer):
    """A layer made of Dense layers, whose config lists quantized and frozen parts.

    A mixin for `keras.layers.Layer`. `keras.Model.quantize` changes Dense layers wherever they are,
    but the config of the layer around them would create them plain, and then not fit the file.
    """

    @property
    def parts(self):
        """The Dense layers, and the layers that hold some, in a fixed order; names are unique."""
        raise NotImplementedError

    def get_config(self):
        quantized = {
            path: keras.saving.serialize_keras_object(dense.quantization_config)
            for path, dense in dense_layers(self).items()
            if is_quantized(dense)
        }
        kept = {"quantized": quantized, "frozen": frozen_parts(self)}
        return {**super().get_config(), **{name: value for name, value in kept.items() if value}}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        config = dict(config)
        quantized, frozen = config.pop("quantized", {}), config.pop("frozen", None)
        layer = super().from_config(config)
        if (quantized or frozen) and not layer.built:
            layer.build((None, None, None))  # The widths are in the config.
        dense = dense_layers(layer)
        with _quick_collections():
            for path, how in quantized.items():
                dense[path].quantize(config=keras.saving.deserialize_keras_object(how))
        if layer.built:
            freeze_parts(layer, frozen)
        return layer


@contextlib.contextmanager
def _quick_collections():
    """Makes garbage collections look at new objects only.

    Keras collects garbage after each layer that it quantizes: in a large process, a model of 32
    layers would take 12 s instead of 0.4 s.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def dense_layers(layer: keras.layers.Layer) -> dict:
    """Returns the Dense layers in `layer` by path, as "layer_0/attention/query"."""
    if isinstance(layer, keras.layers.Dense):
        return {"": layer}
    return {
        f"{part.name}/{path}".rstrip("/"): dense
        for part in layer.parts
        for path, dense in dense_layers(part).items()
    }


def apply_dense(dense: keras.layers.Dense, vectors: Any):
    """Returns `dense(vectors)`, float (..., F), for float `vectors` (..., D).

    On JAX, flattens the leading axes first: XLA then computes the gradient of the weights as one
    product of two matrices, which is 1.5 times as fast.
    """
    if is_tensorflow() or len(vectors.shape) == 2:
        return dense(vectors)
    *axes, width = ops.shape(vectors)
    output = dense(ops.reshape(vectors, (-1, width)))
    return ops.reshape(output, (*axes, output.shape[-1]))


def is_quantized(dense: keras.layers.Dense) -> bool:
    """Returns whether the layer is quantized; if not, it is x `kernel` + `bias`, also with LoRA."""
    return dense.quantization_mode is not None


def form_of(layer: keras.layers.Layer) -> tuple:
    """Returns the key of a traced graph of `layer`: `quantize` and `enable_lora` change it.

    Every call of a translator asks for it, so the Dense layers of a layer are listed once: both
    methods change them in place.
    """
    if layer not in _LISTED:
        _LISTED[layer] = tuple(dense_layers(layer).values())
    return tuple((dense.quantization_mode, dense.lora_enabled) for dense in _LISTED[layer])


def float_weights(dense: keras.layers.Dense):
    """Returns the kernel, float (D, F), of a layer without activation, and its bias (F,) if any.

    Weights of a quantized layer are computed from its output for the unit vectors: Keras has no
    attribute for them that every kind of quantization shares. Rounding of inputs is not included.
    """
    if not is_quantized(dense):
        return (dense.kernel, dense.bias) if dense.use_bias else (dense.kernel,)
    # A float8 layer divides its inputs by this scale, which gives exactly 1, before it rounds them.
    unit = ops.cast(getattr(dense, "inputs_scale", 1.0), dense.compute_dtype)
    width = dense.input_spec.axes[-1]
    bias = dense(ops.zeros((1, width), dense.compute_dtype))
    images = dense(ops.eye(width, dtype=dense.compute_dtype) * unit) - bias
    return (images / unit, bias[0]) if dense.use_bias else (images / unit,)
