"""Checks that an export answers as the model in Python does.

- `verifier`: `Verifier`, which compares answers.
- `translations`, `classifications`, `generations`: equality, ties and scores of a kind's answers.
- `agreement`: the other signatures of a SavedModel, and vectors.
"""
