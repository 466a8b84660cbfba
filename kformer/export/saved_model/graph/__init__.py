"""The graph of a SavedModel, from strings to answers.

- `signatures`: what every model has: reading, limits, `encode` and `tokenize`.
- `translator_signatures`, `translating`, `degenerate_in_graph`: those of a translator.
- `classifier_signatures`: that of a classifier.
- `reading`, `chunks`, `compiled`: texts to ids, batches in parts, functions compiled by XLA.
"""
