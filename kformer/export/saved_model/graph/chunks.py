"""Processes a batch of any size in chunks, in graph, so that memory is bounded.

Axes: B batch.
"""

import tensorflow as tf


def map_in_chunks(function, outputs, rows, *inputs):
    """Returns the outputs of `function`, which is called for at most `rows` rows at a time.

    Args:
        function: callable of as many tensors as `inputs`, each of some rows, that returns a dict
            of tensors with as many rows.
        outputs: dict name -> `tf.TensorSpec` of the results for all rows.
        rows: int32 (), at least 1.
        *inputs: tensors, or `tf.RaggedTensor`s, (B, ...).
    """
    total = _row_count(inputs[0])
    number = tf.maximum(1, -(-total // rows))  # One chunk for an empty batch.
    arrays = {
        name: tf.TensorArray(spec.dtype, number, infer_shape=False, element_shape=spec.shape)
        for name, spec in outputs.items()
    }

    def chunk(i, arrays):
        start, end = i * rows, tf.minimum(total, (i + 1) * rows)
        results = function(*(tensor[start:end] for tensor in inputs))
        return i + 1, {name: array.write(i, results[name]) for name, array in arrays.items()}

    _, arrays = tf.while_loop(lambda i, _: i < number, chunk, (0, arrays), parallel_iterations=1)
    return {
        name: tf.ensure_shape(array.concat(), outputs[name].shape) for name, array in arrays.items()
    }


def _row_count(tensor):
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.nrows(out_type=tf.int32)
    return tf.shape(tensor)[0]
