"""Commands that make a model of text.

- `distill`: `kformer distill`, which trains a student on the translations of its teachers.
- `train`, `prepare`: `kformer train`, and `kformer prepare`, which writes the shards that it reads.
- `runs`: what every command that trains shares.
"""
