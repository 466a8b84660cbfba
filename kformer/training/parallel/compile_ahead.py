"""Compilation of a run's steps for all shapes of its batches, before the first step.

Compiled steps are kept on disk, so that a run that resumes does not compile them again.
"""

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import keras

from kformer.backend import is_tensorflow


class CompileAhead(keras.callbacks.Callback):
    """On JAX, compiles training and validation when training begins, once for each shape.

    Otherwise `fit` would stop to compile at the first batch of each shape. While one step is being
    compiled, the next one is traced. Does nothing for batches whose shapes are not known.

    Args:
        batches: `tf.data.Dataset` of training, with the attribute `shapes`: a list of (rows,
            length), from `Windows.dataset`.
        validation: Data set of the validation text; or None.
    """

    def __init__(self, batches: Any, validation: Any = None):
        super().__init__()
        self._batches, self._validation = batches, validation
        self._done = False

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        if is_tensorflow() or self._done or not _elements(self._batches):
            return
        self._done = True
        model, start = self.model, time.monotonic()
        variables = [
            model.trainable_variables,
            model.non_trainable_variables,
            model.optimizer.variables,
            model.metrics_variables,
        ]
        state = tuple([variable.value for variable in group] for group in variables)
        train, test = _jitted(model.train_step, state), None
        steps = [(train, state, element) for element in _elements(self._batches)]
        if self._validation is not None:
            without_optimizer = (*state[:2], state[3])
            test = _jitted(model.test_step, without_optimizer)
            steps += [(test, without_optimizer, element) for element in _elements(self._validation)]
        shapes = f"{len(self._batches.shapes)} shapes of batches"
        if test:
            shapes += f", and validation for {len(self._validation.shapes)}"
        print(f"Compiling the training step for {shapes}.", flush=True)
        _compile(steps)
        print(f"Compiled in {time.monotonic() - start:.0f} s.", flush=True)
        # `fit` and `evaluate` make these functions only where there are none yet.
        model.train_function = _over_batches(train)
        if test:
            model.test_function = _over_batches(test)


def _elements(dataset):
    """Returns an element of the data set for each shape of its batches, without values."""
    return [_element(dataset.element_spec, shape) for shape in getattr(dataset, "shapes", ())]


def _element(spec, shape):
    import jax

    distribution = keras.distribution.distribution()

    def tensor(spec):
        unknown = iter(shape)
        tensor_shape = tuple(next(unknown) if size is None else size for size in spec.shape)
        sharding = None
        if distribution is not None:
            sharding = distribution.get_data_layout(tensor_shape).backend_layout
        return jax.ShapeDtypeStruct(tensor_shape, spec.dtype.as_numpy_dtype, sharding=sharding)

    return keras.tree.map_structure(tensor, spec)


def _jitted(step, state):
    """Returns a step as Keras compiles it: the old state is given up for the new one."""
    import jax

    shardings = None
    if keras.distribution.distribution() is not None:
        shardings = None, jax.tree.map(lambda value: value.sharding, state)
    return jax.jit(step, donate_argnums=0, out_shardings=shardings)


def _compile(steps):
    """Compiles steps for a state and an element each; later calls of the steps find the result."""
    with ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        compiling = [pool.submit(step.lower(*arguments).compile) for step, *arguments in steps]
    for compilation in compiling:
        compilation.result()


def _over_batches(step):
    return lambda state, batches: step(state, next(batches))


@contextlib.contextmanager
def compiled_in(folder: str | Path):
    """Has JAX read and write compiled steps in `folder` while the context is open.

    If JAX_COMPILATION_CACHE_DIR is set, that folder is used instead.
    """
    if is_tensorflow():
        yield
        return
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    changes = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.2,  # Not the many small operations.
    }
    before = {name: getattr(jax.config, name) for name in changes}
    if before["jax_compilation_cache_dir"]:
        yield
        return
    _configure(jax, compilation_cache, changes)
    try:
        yield
    finally:
        _configure(jax, compilation_cache, before)


def _configure(jax, compilation_cache, values):
    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # Otherwise JAX keeps to the folder of its first compilation.
