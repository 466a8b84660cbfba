"""Search: from a `Step` that scores the next ids to the ids of whole sequences.

- `step`: `Step`, all that a search needs of a model; search imports no model.
- `ensemble`: a `Step` made of those of several models.
- `greedy`, `beam`, `sampling`: callables (step, cache, max_lengths) -> `SearchOutput`.
- `constraints`: restrictions of their choice.
- `continuations`: the best next ids of every beam.
- `spelling`: sequences of ids that spell the same text.
- `loop`: the loop that all searches share.
- `compaction`: rows that have ended leave the batch.
- `top_k`, `columns`, `keyed_random`: operations, in the form that each runtime runs best.

The state of a search has fixed shapes, so that one `while_loop` runs it in Python, on a server and
on a phone; compaction alone changes the number of rows. A row is never influenced by the others:
it ends by itself, at its end id or its own largest length.
"""
