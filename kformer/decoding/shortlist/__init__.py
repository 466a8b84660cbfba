"""Shortlists: the few hundred ids that a translation of a source may have.

- `table`: `Shortlist`, which ids are likely for each source id, and its file.
- `selection`: the candidates of a source, in graph.

`kformer.training.shortlist` learns the table from text.
"""
