"""Commands that make a model of text.

- `train`, `prepare`: `kformer train`, and `kformer prepare`, which writes the shards that it reads.
- `runs`: what every command that trains shares.
"""
