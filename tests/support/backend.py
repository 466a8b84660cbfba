"""The same tests on both backends of Keras: what differs, and gradients on either."""

import os

import keras
import numpy as np

from kformer.backend import is_tensorflow

# JAX compiles each operation for each shape of its arguments, and the tests have many shapes.
_QUICK = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)

# The most precise dtype, and how far from NumPy a model may be in it. Keras on JAX computes sines
# and layer norms in float32 whatever the dtype.
PRECISE, TOLERANCE = ("float64", 1e-9) if is_tensorflow() else ("float32", 1e-4)


def compile_quickly():
    """Has XLA compile in half the time, to slower programs; call it before the first tensor."""
    os.environ["XLA_FLAGS"] = " ".join([*_QUICK, os.environ.get("XLA_FLAGS", "")])


def prepare_jax():
    """Configures JAX for tests whose arrays are float64 by NumPy's default, as on TensorFlow."""
    import jax

    compile_quickly()
    jax.config.update("jax_enable_x64", True)


def reason_to_skip(item) -> str | None:
    """Returns why a test cannot run on this backend; None if it can."""
    if is_tensorflow():
        return None
    if marker := item.get_closest_marker("tensorflow"):
        return marker.args[0]
    if {"toy_run", "toy_translator"} & {*item.fixturenames}:
        return "The translator of these tests is trained on TensorFlow."
    if hasattr(item, "callspec") and "float64" in map(str, item.callspec.params.values()):
        return "Keras on JAX computes sines and layer norms in float32."
    return None


def value_and_gradients(function, *inputs, variables=(), upstream=None):
    """Calls a function of tensors, compiled as one graph, and differentiates it.

    Args:
        function: Returns a tensor.
        *inputs: Arrays, the arguments of the function.
        variables: `keras.Variable`s that the function reads.
        upstream: Weight of each element of the result, an array of its shape; by default 1.

    Returns:
        value: The result, a NumPy array.
        gradients: Those of its weighted sum, NumPy arrays: of each input, then of each variable.
    """
    inputs = [keras.ops.convert_to_tensor(one) for one in inputs]
    tensors = [*inputs, *(keras.ops.convert_to_tensor(one.value) for one in variables)]

    def weighted(*tensors):
        mapping = [*zip(variables, tensors[len(inputs) :], strict=True)]
        with keras.StatelessScope(mapping):
            value = function(*tensors[: len(inputs)])
        weight = keras.ops.ones_like(value) if upstream is None else upstream
        return keras.ops.sum(value * keras.ops.cast(weight, value.dtype)), value

    differentiate = _on_tensorflow if is_tensorflow() else _on_jax
    value, gradients = differentiate(weighted, tensors)
    return np.array(value), [np.array(one) for one in gradients]


def _on_tensorflow(function, tensors):
    import tensorflow as tf

    @tf.function
    def differentiate(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            total, value = function(*tensors)
        gradients = tape.gradient(total, tensors, unconnected_gradients="zero")
        return value, [tf.convert_to_tensor(one) for one in gradients]

    return differentiate(*tensors)


def _on_jax(function, tensors):
    import jax

    differentiate = jax.value_and_grad(function, tuple(range(len(tensors))), has_aux=True)
    (_, value), gradients = jax.jit(differentiate)(*tensors)
    return value, gradients
