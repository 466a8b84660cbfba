"""Exact resumption: a `fit` that continues from its newest checkpoint, to the bit.

- `resume`: `resumable_fit`.
- `saving`: when checkpoints are written, and how training ends between two batches.
- `checkpoint`: the files. `variables`: the arrays in them.
- `every_steps`: counts steps. `interruption`: catches signals.
"""
