"""TensorFlow functions whose operations run one after another."""

import tensorflow as tf


def sequential(function, input_signature=None):
    """Returns `function`, of tensors, as a `tf.function` for the search's loop.

    TensorFlow's usual executor looks for operations that can run side by side, and turns a loop
    into several operations for each of its variables. A step of the decoder is a chain of small
    operations: with the simple executor a tiny model takes two thirds of the time, and less where
    there are several threads. Large operations still use all threads.

    It may be called in another function that is traced, and saved with it.
    """
    graph = tf.function(  # Put into its caller's graph, it would get its caller's executor.
        function,
        input_signature=input_signature,
        autograph=False,  # It would take longer than all the rest, and finds nothing to convert.
        experimental_attributes={"_noinline": True},
    )

    def call(*inputs):
        with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            return graph(*inputs)

    return call
