"""Checks that an export answers as the model in Python does.

- `verifier`: `Verifier`, which compares translations and scores.
- `agreement`: counts equal translations, ties and differences.
- `classes`: compares the answers of a served classifier.
"""
