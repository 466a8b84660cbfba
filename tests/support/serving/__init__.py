"""A stand-in for TensorFlow Serving, and requests to it."""
