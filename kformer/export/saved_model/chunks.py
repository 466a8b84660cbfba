"""A batch of any size, in pieces of bounded size, in graph: so memory has a bound.

Axes: B batch.
"""

import tensorflow as tf


def in_row_pieces(function, outputs, rows, *inputs):
    """Returns what `function` returns, called for some rows at a time.

    Args:
        function: callable of as many inputs, of some rows, to tensors by name, of as many rows.
        outputs: dict name -> `tf.TensorSpec` of what it returns for all rows.
        rows: int32 (), the most rows at a time, at least 1.
        *inputs: tensors, or `tf.RaggedTensor`s, (B, ...).
    """
    total = _rows(inputs[0])
    number = tf.maximum(1, -(-total // rows))  # An empty batch, too, has answers: empty ones.
    written = {
        name: tf.TensorArray(spec.dtype, number, infer_shape=False, element_shape=spec.shape)
        for name, spec in outputs.items()
    }

    def piece(i, written):
        start, end = i * rows, tf.minimum(total, (i + 1) * rows)
        found = function(*(tensor[start:end] for tensor in inputs))
        return i + 1, {name: array.write(i, found[name]) for name, array in written.items()}

    _, written = tf.while_loop(lambda i, _: i < number, piece, (0, written), parallel_iterations=1)
    return {
        name: tf.ensure_shape(array.concat(), outputs[name].shape)
        for name, array in written.items()
    }


def _rows(tensor):
    if isinstance(tensor, tf.RaggedTensor):
        return tensor.nrows(out_type=tf.int32)
    return tf.shape(tensor)[0]
