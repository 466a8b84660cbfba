"""Shards: sentence pairs as ids on disk, which training reads in any order.

- `shard_file`: one shard, and its rows of ids in arrays. `manifest`: the folder of all.
- `shard_set`: several folders that are trained on together.
- `passes`: the pairs of each batch, in a random order that is computed, not stored.
- `shards_dataset`: `shards_dataset`, a `tf.data.Dataset` of batches.

`kformer.training.preparation` writes them.
"""
