"""Preparation: from text files to shards of cleaned, different and shuffled pairs.

- `raw_pairs`: files to batches of pairs.
- `held_out`: pairs to train on, and pairs to validate and test on.
- `cleaning`: rules on the text and its characters, and a table of the pairs that they dropped.
- `vocabulary_sample`: text to learn from.
- `spill`: text to ids; pairs on disk by their hash, so that duplicates meet and the order is
  random. `near_duplicates`: pairs that differ little.
- `preparation_options`: the settings. `shards_writer`: `prepare_shards`, the whole way.

Each rule is a function from a batch of pairs to a smaller batch, so that any engine can call it.
"""
