"""Commands that look into a model, and draw what it computes with.

- `attention`: the attention of a model while it reads or writes a sentence.
- `plot`: attention, positions, schedules and learning curves.
"""
