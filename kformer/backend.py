"""Code that depends on Keras's backend; other modules ask `is_tensorflow` or call these functions.

Every backend runs the same networks; models of text run on TensorFlow and JAX. On TensorFlow, some
operations that Keras does not offer are faster; other backends compile the operations of Keras.
"""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np
from keras import ops

_BACKENDS = ("tensorflow", "jax")
_MOST_PARTS = 4  # Each is one more copy of the network in the graph, and of the gradients.
_computing_in: int | None = None  # The first process that made or loaded a model.


def is_tensorflow() -> bool:
    """Returns whether Keras runs on TensorFlow."""
    return keras.backend.backend() == "tensorflow"


def check_backend():
    """Raises an error unless models of text run on Keras's backend and in this process."""
    if (running := keras.backend.backend()) not in _BACKENDS:
        raise ValueError(
            "Translators, classifiers and language models run on Keras's TensorFlow and JAX "
            "backends: set the environment variable KERAS_BACKEND to tensorflow or jax. "
            f"Received: backend={running!r}."
        )
    check_process()


def check_process():
    """Raises a RuntimeError in a fork of a process that made or loaded a model.

    TensorFlow and JAX would wait there for threads that the fork does not have.
    """
    global _computing_in
    if _computing_in is None:
        _computing_in = os.getpid()
    elif _computing_in != os.getpid():
        raise RuntimeError(
            "A fork of a process that has a model cannot compute with TensorFlow or JAX: load "
            "models after the fork only, or start processes by multiprocessing's method 'spawn'. "
            f"Received: process={os.getpid()}, a fork of {_computing_in}."
        )


def graph_cache(tensor: Any) -> dict | None:
    """Returns a dict that belongs to the TensorFlow graph of `tensor`; None outside a graph.

    Functions that are traced into one graph share results through it. The graph owns the dict, so
    its content lives as long as the tensors of the graph. Use `Tensor.ref()` in its keys.
    """
    if not is_tensorflow():
        return None
    import tensorflow as tf

    if not tf.is_symbolic_tensor(tensor):
        return None
    collection = tensor.graph.get_collection_ref(("kformer",))  # TensorFlow saves only str keys.
    if not collection:
        collection.append({})
    return collection[0]


def is_traced(tensor: Any) -> bool:
    """Returns whether the values of `tensor` are unknown, because a graph is being traced."""
    if is_tensorflow():
        import tensorflow as tf

        return tf.is_symbolic_tensor(tensor)
    if keras.backend.backend() == "jax":
        import jax

        return isinstance(tensor, jax.core.Tracer)
    return False


def assert_in_graph(condition: Any, message: tuple):
    """Lets a graph of TensorFlow fail where `condition` is false; elsewhere does nothing.

    Args:
        condition: boolean scalar tensor.
        message: tuple of strings and of tensors, whose values are shown.
    """
    if is_tensorflow():
        import tensorflow as tf

        tf.debugging.Assert(condition, message)


def random_uint16(shape: Any, seed_generator: keras.random.SeedGenerator):
    """Returns evenly distributed uint16 numbers; on TensorFlow only.

    Args:
        shape: tensor or tuple.
    """
    import tensorflow as tf  # Keras has no random bits.

    size = tf.reduce_prod(shape)
    seed = tf.cast(seed_generator.next(), tf.int32)
    pairs = tf.random.stateless_uniform(
        [(size + 1) // 2], seed, minval=None, maxval=None, dtype=tf.int32
    )
    return tf.reshape(tf.reshape(tf.bitcast(pairs, tf.uint16), [-1])[:size], shape)


def replica_context():
    """Returns the `tf.distribute.ReplicaContext` of several replicas; None if there is one."""
    if not is_tensorflow():
        return None  # Other backends distribute batches without changing the loss.
    import tensorflow as tf

    replicas = tf.distribute.get_replica_context()
    return replicas if replicas and replicas.num_replicas_in_sync > 1 else None


def num_replicas() -> int:
    """Returns the number of replicas of the current `tf.distribute` strategy, else 1."""
    if not is_tensorflow():
        return 1
    import tensorflow as tf

    return tf.distribute.get_strategy().num_replicas_in_sync


def batch_devices() -> int:
    """Returns the number of devices that share each batch, by `keras.distribution`."""
    distribution = keras.distribution.distribution()
    if distribution is None:
        return 1
    mesh = distribution.device_mesh
    return mesh.shape[mesh.axis_names.index(distribution.batch_dim_name)]


def share_of_batches() -> tuple[int, int]:
    """Returns the index of the share of a batch that this process computes, and their number."""
    distribution = keras.distribution.distribution()
    if distribution is None:
        return 0, 1
    return distribution.data_shard_id, min(
        distribution.num_processes, distribution.num_model_replicas
    )


def in_parts(function: Callable, *tensors: Any):
    """Returns `function(*tensors)`, in TensorFlow's graphs computed in parts, one for each core.

    If TensorFlow may use one core for each operation and run several operations at once, as in
    `kformer train` on a processor, the rows are split into as many parts, at most four. The parts
    do not depend on each other, so each keeps a core busy. That is faster than all cores at each
    operation, which wait for each other many times. Otherwise there is one part.

    Args:
        function: Takes tensors (N, ...) and returns such a tensor, or a tuple of them, in which
            each row depends on the same row of its arguments.
        *tensors: tensors (N, ...).
    """
    number = 1 if graph_cache(tensors[0]) is None else _cores_to_split_for()
    if number == 1:
        return function(*tensors)
    import tensorflow as tf  # Other backends spread operations themselves.

    rows = tf.shape(tensors[0])[0]
    bounds = [rows * part // number for part in range(number + 1)]
    results = [
        function(*(tensor[first:end] for tensor in tensors))
        for first, end in itertools.pairwise(bounds)
    ]
    return tf.nest.map_structure(lambda *parts: tf.concat(parts, axis=0), *results)


def _cores_to_split_for() -> int:
    """Returns the number of cores to split for: 1 if each operation may use several cores."""
    import tensorflow as tf

    cores = tf.config.threading.get_intra_op_parallelism_threads()
    at_once = tf.config.threading.get_inter_op_parallelism_threads()
    return min(at_once, _MOST_PARTS) if cores == 1 and at_once > 1 and num_replicas() == 1 else 1


def gather(table: Any, ids: Any):
    """Returns `table[ids]` for `ids` that are all in [0, len(table)).

    `keras.ops.take` also accepts negative ids, which takes three more operations. In a search,
    where each step calls it, they cost as much as a layer of a small model.

    Args:
        table: tensor (M, ...).
        ids: int32 tensor of any shape.

    Returns:
        tensor (*ids.shape, ...).
    """
    if is_tensorflow():
        import tensorflow as tf  # Its own op does not wrap around.

        return tf.gather(table, ids)
    return ops.take(table, ids, axis=0)


def highest_in_rows(values: Any):
    """Returns the highest number of each row of `values` (N, M), and its index, both (N, 1).

    TensorFlow's largest of one finds it twice as fast as its maximum, which computes bfloat16
    number by number.
    """
    if is_tensorflow():
        import tensorflow as tf  # Elsewhere that sorts.

        highest, indices = tf.math.top_k(values, 1)
        return highest, indices
    indices = ops.argmax(values, axis=-1, keepdims=True)
    return ops.take_along_axis(values, indices, axis=-1), indices


def attach_variables(model: keras.Model):
    """Gives a model in training its current variables, and those of its optimizer and metrics.

    On JAX, `fit` keeps them to itself within an epoch. A callback that reads or assigns variables
    after a batch must call this first.
    """
    if hasattr(model, "jax_state_sync"):
        model.jax_state_sync()


def step_of(model: keras.Model) -> int:
    """Returns the number of updates of the weights of a model in training."""
    attach_variables(model)
    return int(ops.convert_to_numpy(model.optimizer.iterations))


def copies(variables: Iterable[Any]) -> list:
    """Returns the values of variables, which later steps of training leave as they are."""
    if is_tensorflow():
        return [np.array(ops.convert_to_numpy(variable)) for variable in variables]
    # A step on JAX deletes its inputs.
    return [ops.copy(variable) for variable in variables]
