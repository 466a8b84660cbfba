"""How fast pairs are read at random from shards, from TFRecord and from ArrayRecord files.

The first shard of a folder is written again in the other forms. Batches of 128 pairs are read from
each in turn: at random, except from TFRecord, which can only be read in order, through a shuffle
buffer of 100,000. ArrayRecord needs its package, which is in no extra: pip install array_record.
"""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

BATCH = 128


def rows_of(folder):
    """Yields the rows of the first shard: source and target as bytes of uint16."""
    from kformer.training.shards.shard_set import shard_sets

    shard = shard_sets(folder)[0].open()[0]
    for (source, target, pairs), start in zip(shard.groups, shard.starts(), strict=True):
        block = shard.ids[start : start + pairs * (source + target)].reshape(pairs, -1)
        for row in block:
            yield np.concatenate([[source], row]).astype(np.uint16).tobytes()


def reads_shards(folder):
    from kformer.training.data.batching import Batching
    from kformer.training.data.dropped_pairs import PairFilter
    from kformer.training.shards.passes import Passes
    from kformer.training.shards.shard_set import shard_sets

    corpora = [[shard_sets(folder)[0].open()[0]]]
    form = Batching(BATCH * 128, 128)
    form.sizes = [BATCH] * len(form.sizes)
    passes = Passes(corpora, [1.0], PairFilter(128), form)

    def read(number):
        for batch in range(passes.number):
            passes.read(number, batch)
        return passes.pairs

    return read


def reads_tfrecord(rows, folder):
    import tensorflow as tf

    path = str(folder / "a.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(row)

    def read(number):
        records = tf.data.TFRecordDataset(path).shuffle(100_000, seed=number).batch(BATCH)
        records = records.map(lambda batch: tf.io.decode_raw(batch, tf.uint16, fixed_length=512))
        return sum(len(batch) for batch in records.prefetch(2).as_numpy_iterator())

    return read


def reads_array_record(rows, folder):
    from array_record.python import array_record_module

    path = str(folder / "a.array_record")
    writer = array_record_module.ArrayRecordWriter(path, "group_size:1")
    for row in rows:
        writer.write(row)
    writer.close()
    reader = array_record_module.ArrayRecordReader(path)

    def read(number):
        order = np.random.default_rng(number).permutation(len(rows)).tolist()
        for first in range(0, len(order), BATCH):
            found = reader.read(order[first : first + BATCH])
            [np.frombuffer(record, np.uint16) for record in found]
        return len(order)

    return read


def compare(shards, rounds):
    """Prints pairs per second from each form, in turn."""
    rows = [*rows_of(shards)]
    with tempfile.TemporaryDirectory() as folder:
        readers = {
            "shards": reads_shards(shards),
            "TFRecord, in order": reads_tfrecord(rows, Path(folder)),
        }
        try:
            readers["ArrayRecord"] = reads_array_record(rows, Path(folder))
        except ImportError:
            print("ArrayRecord is left out: pip install array_record.")
        speeds = {name: [] for name in readers}
        for number in range(rounds):
            for name, read in readers.items():
                start = time.perf_counter()
                speeds[name].append(read(number) / (time.perf_counter() - start))
    for name, found in speeds.items():
        print(f"records from {name} | {statistics.median(found):,.0f} pairs/s")
