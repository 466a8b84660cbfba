"""JSON values as arrays and back, as TensorFlow Serving's REST has them; for the stand-in."""

import base64

import numpy as np
import tensorflow as tf


def columns(rows, types):
    """Rows of inputs as columns."""
    if not isinstance(rows, list) or not rows:
        raise ValueError("No values in 'instances' array")
    if isinstance(rows[0], dict) and "b64" not in rows[0]:
        return {name: [row[name] for row in rows] for name in types}
    return rows


def array(values, dtype):
    """JSON values as an array."""
    if dtype != tf.string:
        return np.array(values, dtype.as_numpy_dtype)
    if not isinstance(values, list):
        raise ValueError(f"Expects a list of strings, but got {values!r:.99}")
    return np.array([as_bytes(value) for value in values], object)


def as_bytes(value):
    if isinstance(value, dict) and value.keys() == {"b64"}:
        return base64.b64decode(value["b64"], validate=True)
    if not isinstance(value, str):
        raise ValueError(f"JSON Value: {value!r:.99} is not of expected type: string")
    return value.encode("utf-8", "surrogateescape")


def as_text(value):
    return value.decode("utf-8", "surrogateescape")
