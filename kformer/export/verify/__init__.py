"""Checks that an export answers as the model in Python does.

- `verifier`: `Verifier`, which compares answers.
- `translations`, `classifications`: which answers of a kind of model are equal or tied, how good.
- `agreement`: the other signatures of a served translator, and vectors.
- `classes`: the other signatures of a served classifier.
"""
