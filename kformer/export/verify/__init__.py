"""Checks that an export answers as the model in Python does.

- `verifier`: `Verifier`, which compares answers.
- `translations`, `classifications`: which answers of a kind of model are equal or tied, how good.
- `agreement`: the other signatures of a SavedModel, and vectors.
"""
