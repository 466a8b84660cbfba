"""How fast `translation_dataset` reads each kind of source, beside two text files.

    make bench-pairs [ARGS="--pairs 100000 --rounds 5"]

Each round makes a data set from each kind of source in turn and reads one whole pass of it; what is
measured includes reading the source and counting the batches. Prints for each kind the median of
its speed and of its ratio to the two text files of the same round.
"""

import argparse
import csv
import gzip
import json
import statistics
import tempfile
import time
from pathlib import Path

from input_pipeline import write_corpus


class Records:
    """Dicts in dicts, as Hugging Face's `datasets` gives."""

    def __init__(self, pairs):
        self._pairs = pairs

    def __iter__(self):
        for source, target in self._pairs:
            yield {"translation": {"de": source, "en": target}}


def sources(folder, number):
    """Returns, by name, the arguments of `translation_dataset` for the same pairs."""
    import tensorflow as tf

    files = write_corpus(folder, number / 5800)
    lines = [path.read_text("utf-8").splitlines()[:number] for path in files]
    pairs = [*zip(*lines, strict=True)]
    paths = {name: folder / name for name in ("a.de", "a.en", "a.tsv", "a.csv", "a.jsonl", "a.gz")}
    for name, side in zip(("a.de", "a.en"), lines, strict=True):
        paths[name].write_text("".join(f"{line}\n" for line in side), "utf-8")
    table = "".join(f"{source}\t{target}\n" for source, target in pairs)
    paths["a.tsv"].write_text(table, "utf-8")
    paths["a.gz"].write_bytes(gzip.compress(table.encode()))
    with paths["a.csv"].open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("source", "target"), *pairs])
    with paths["a.jsonl"].open("w", encoding="utf-8") as file:
        for source, target in pairs:
            file.write(json.dumps({"source": source, "target": target}) + "\n")
    return {
        "two text files": {"source_files": paths["a.de"], "target_files": paths["a.en"]},
        "tsv": {"pairs": paths["a.tsv"]},
        "tsv, gzip": {"pairs": paths["a.gz"]},
        "csv": {"pairs": paths["a.csv"]},
        "json lines": {"pairs": paths["a.jsonl"]},
        "list of tuples": {"pairs": pairs},
        "dicts": {"pairs": Records(pairs), "columns": ("translation.de", "translation.en")},
        "tf.data": {"pairs": tf.data.Dataset.from_tensor_slices(tuple(lines))},
    }


def seconds_of(arguments, tokenizer):
    """Reads one pass; returns the time that it took."""
    from kformer.training import translation_dataset

    if isinstance(arguments.get("pairs"), Path):
        arguments["pairs"].touch()  # A table that has not changed would not be read again.
    start = time.perf_counter()
    for _ in translation_dataset(tokenizer=tokenizer, **arguments):
        pass
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    import kformer

    with tempfile.TemporaryDirectory() as folder:
        kinds = sources(Path(folder), options.pairs)
        tokenizer = kformer.Tokenizer.train(Path(folder) / "a.de", 2000)
        seconds_of(kinds["two text files"], tokenizer)
        times = [
            {name: seconds_of(arguments, tokenizer) for name, arguments in kinds.items()}
            for _ in range(options.rounds)
        ]
    print("source | pairs/s | beside two text files")
    for name in kinds:
        speed = statistics.median(options.pairs / one[name] for one in times)
        ratio = statistics.median(one["two text files"] / one[name] for one in times)
        print(f"{name} | {speed:,.0f} | {ratio:.2f}")


if __name__ == "__main__":
    main()
