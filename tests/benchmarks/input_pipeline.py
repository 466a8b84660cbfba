"""How fast `translation_dataset` makes batches, alone, and in how much memory.

    make bench-input [ARGS="--megabytes 1000 --seconds 120"]

Makes a small and a large corpus of random words, each in a process of its own, and prints a table:
memory is what the process holds beyond TensorFlow and the tokenizer, sampled every half second.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SMALL = 10  # Megabytes.
WORDS = 20_000


def write_corpus(folder: Path, megabytes: float):
    """Writes two files of random words, of about that many megabytes together."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnoprstuvwxyz"))
    words = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(WORDS)]
    paths = [folder / f"{megabytes}.{side}" for side in ("source", "target")]
    with paths[0].open("w") as source, paths[1].open("w") as target:
        while source.tell() + target.tell() < megabytes * 1e6:
            lengths = rng.integers(1, 28, 1000)
            for file in (source, target):
                chosen = np.minimum(rng.zipf(1.3, (1000, 28)) - 1, WORDS - 1)
                for row, length in zip(chosen, lengths, strict=True):
                    file.write(" ".join([words[i] for i in row[:length]]) + "\n")
    return paths


def resident() -> float:
    """Returns how many megabytes this process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Memory(threading.Thread):
    """Samples what the process holds in memory."""

    def __init__(self):
        super().__init__(daemon=True)
        self.at_first = resident()
        self.samples = []
        self.start()

    def run(self):
        while True:
            self.samples.append(resident() - self.at_first)
            time.sleep(0.5)


def measure(source, target, model, seconds):
    """Reads whole passes, at least six and for at least `seconds`; returns figures."""
    from kformer import Tokenizer
    from kformer.training import translation_dataset

    tokenizer = Tokenizer.load(model)
    tokenizer.tokenize(["a"])
    memory = Memory()
    start = time.perf_counter()
    batches = translation_dataset(source, target, tokenizer, byte_spelling=0.001)
    counted = time.perf_counter() - start
    counting, memory.samples = max(memory.samples), []
    peaks = []  # Of each pass.
    pairs = tokens = slots = number = 0
    start, first = time.perf_counter(), None
    processor = time.process_time()
    while len(peaks) < 6 or time.perf_counter() - start < seconds:
        for (_, _), target_out in batches:
            first = first or time.perf_counter() - start
            pairs += target_out.shape[0]
            number += 1
            if number % 50 == 0:
                tokens += np.count_nonzero(target_out)
                slots += np.size(target_out)
        peaks.append(max(memory.samples))
        memory.samples = []
    wall = time.perf_counter() - start
    return {
        "batches": int(batches.cardinality()),
        "counting s": round(counted, 1),
        "first batch s": round(first, 2),
        "pairs/s": round(pairs / wall),
        "pairs/CPU s": round(pairs / (time.process_time() - processor)),
        "target padding": round(1 - tokens / slots, 3),
        "MB counting": round(counting),
        "MB passes 1-3": round(max(peaks[:3])),
        "MB passes 4-": round(max(peaks[3:])),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure, options.seconds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        corpora = {size: write_corpus(Path(folder), size) for size in (SMALL, options.megabytes)}
        model = Path(folder) / "model"
        code = "from sys import argv; from kformer import Tokenizer as T; "
        code += "T.train(argv[1], 8000).save(argv[2])"
        subprocess.run([sys.executable, "-c", code, corpora[SMALL][0], model], check=True)
        for size, files in corpora.items():
            one = [sys.executable, __file__, f"--seconds={options.seconds}"]
            result = subprocess.run(
                [*one, "--measure", *files, model], stdout=subprocess.PIPE, text=True, check=True
            )
            row = json.loads(result.stdout)
            if size == SMALL:
                print("MB", *row, sep=" | ")
            print(size, *row.values(), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
