"""From text files to shards: what happens to a pair on the way.

- `reading`: files to batches of pairs. `cleaning`, `characters`: rules on the text.
- `tokenizing`: text to ids, and rules on their lengths. `vocabulary_sample`: text to learn from.
- `dropped`: a table of what was dropped, and why.
- `spill`: pairs on disk by their hash, so that duplicates meet and the order is random.
  `near_duplicates`: pairs that differ little.
- `options`: the settings. `prepare`: `prepare_shards`, the whole way.

Each rule is a function from a batch of pairs to a smaller batch, so that any engine can call it.
"""
