"""TensorFlow functions whose operations run one after another."""

from collections.abc import Callable

import tensorflow as tf


def sequential(function: Callable, input_signature: list | None = None) -> Callable:
    """Returns `function`, of tensors, as a `tf.function` for the loop of a search.

    TensorFlow's usual executor looks for operations that can run side by side, and turns a loop
    into several operations for each of its variables. A step of the decoder is a chain of small
    operations: with the simple executor a tiny model takes two thirds of the time, and less where
    there are several threads. Large operations still use all threads.

    The result may be called in another function that is traced, and saved with it.
    """
    graph = tf.function(  # Inlined, it would run on its caller's executor.
        function,
        input_signature=input_signature,
        autograph=False,  # Takes longer than all the rest, and finds nothing to convert.
        experimental_attributes={"_noinline": True},
    )

    def call(*inputs):
        with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            return graph(*inputs)

    return call
