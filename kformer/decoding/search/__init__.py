"""Search: from a `Step` that scores the next ids to the ids of whole sequences.

- `search_loop`: `Step`, all that a search needs of a model, and the loop that all searches share.
- `greedy`, `beam`, `sampling`: callables (step, cache, max_lengths) -> `SearchOutput`.
- `ensemble_step`: a `Step` that averages the steps of several models.
- `constraints`: restrictions of the next ids; sequences of ids that spell the same text.
- `continuations`: the best next ids of every beam.
- `compaction`: rows that have ended leave the batch.
- `top_k`: the largest numbers of a row, in the form that each runtime computes fastest.

The state of a search has fixed shapes, so that one `while_loop` runs it in Python, on a server and
on a phone; compaction alone changes the number of rows. A row is never influenced by the others:
it ends by itself, at its end id or its own largest length.
"""
