"""How fast text becomes shards, and shards become batches, beside a small corpus of text.

    make bench-shards [ARGS="--pairs 1000000 --rounds 3"]

Prints pairs per second of wall time and of processor time, and the memory at the peak, of
`kformer prepare` with and without near-duplicates, in processes of their own; the time to the first
batch; and the speed of a pass over the shards, a small corpus of text and its shards, in turn.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.input_pipeline import write_corpus
from benchmarks.shards import record_formats

SMALL = 20_000  # Pairs.
MEGABYTES_PER_PAIR = 1 / 5800  # Of `write_corpus`.


def prepare(files, output, pairs, *options):
    """Prepares shards in another process; prints its speed and memory."""
    words = ["prepare", "--source", files[0], "--target", files[1], "--output", output, *options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "kformer", *map(str, words)], check=True, stdout=subprocess.DEVNULL
    )
    wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    # Children that ended earlier needed no more: each prepares the same text, or less.
    print(
        f"{' '.join(options) or 'prepare'} | {pairs / wall:,.0f} | {pairs / processor:,.0f} | "
        f"{used.ru_maxrss / 1024:,.0f} MB",
        flush=True,
    )


def seconds_of(batches):
    """Reads one pass; returns the times to the first batch and of all."""
    start, first = time.perf_counter(), None
    for _ in batches:
        first = first or time.perf_counter() - start
    return first, time.perf_counter() - start


def compare(shards, small, small_shards, rounds):
    """Prints pairs per second of a pass over each."""
    from kformer import Tokenizer
    from kformer.training import shards_dataset, translation_dataset
    from kformer.training.shards.manifest import read_manifest

    start = time.perf_counter()
    large = shards_dataset(shards)
    print(f"first batch after {time.perf_counter() - start + seconds_of(large.take(1))[0]:.1f} s")
    tokenizer = Tokenizer.load(small_shards / "tokenizer.model")
    numbers = {
        "shards": read_manifest(shards).pairs,
        "small shards": read_manifest(small_shards).pairs,
    }
    sources = {
        "small text": translation_dataset(*small, tokenizer),
        "small shards": shards_dataset(small_shards),
        "shards": large,
    }
    speeds = {name: [] for name in sources}
    for _ in range(rounds):
        for name, batches in sources.items():
            pairs = numbers.get(name, SMALL)
            speeds[name].append(pairs / seconds_of(batches)[1])
    for name, found in speeds.items():
        print(f"a pass over {name} | {statistics.median(found):,.0f} pairs/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, small = (
            write_corpus(folder, pairs * MEGABYTES_PER_PAIR) for pairs in (options.pairs, SMALL)
        )
        print("prepare | pairs/s | pairs/s and core | memory")
        model = ("--tokenizer", folder / "small" / "tokenizer.model")
        prepare(small, folder / "small", SMALL)
        prepare(large, folder / "large", options.pairs, *map(str, model))
        near = [*map(str, model), "--drop-near-duplicates"]
        prepare(large, folder / "near", options.pairs, *near)
        compare(folder / "large", small, folder / "small", options.rounds)
        record_formats.compare(folder / "large", options.rounds)


if __name__ == "__main__":
    main()
