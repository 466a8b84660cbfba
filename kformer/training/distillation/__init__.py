"""Distillation: a student learns from the translations of its teachers.

- `options`: `DistillationOptions`, how the teachers translate.
- `teaching`: `Teaching`, from a source and its reference to the translation that is learned.
- `texts`: which files are translated, and which files their translations are.
- `shards`: that text as shards.
- `distributions`: beside the shards, how likely the teachers find other words.
"""
