"""Shards: sentence pairs as ids on disk, which training reads in any order.

- `rows`: pairs as ids, in arrays. `shard_file`: one shard. `manifest`: the folder of all.
- `permutation`: a random order that is computed, not stored. `passes`: the pairs of each batch.
- `dataset`: `shards_dataset`, a `tf.data.Dataset` of batches.
- `preparation`: `prepare_shards`, from text files to such a folder.
"""
