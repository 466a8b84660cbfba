"""Commands that look into a model, and draw what it computes with.

- `align`: which words of a text and of its translation belong together.
- `attention`: the attention of a model while it reads or writes a sentence.
- `inspect`: what a model of any form holds. `export_sizes`: how large its exports would be.
- `plot`: attention, positions, schedules and learning curves.
"""
