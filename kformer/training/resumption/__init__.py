"""Exact resumption: a `fit` that continues from its newest checkpoint, to the bit.

- `resumable_fit`: `resumable_fit`, for any Keras model.
- `saving`: when checkpoints are written, and how training ends between two batches.
- `checkpoint`: the files. `variables`: the arrays in them.
- `interruption`: catches signals.
"""
