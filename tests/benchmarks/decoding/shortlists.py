"""What a shortlist saves in a `.tflite` file, of a random model of any vocabulary.

    PYTHONPATH=tests python -m benchmarks.decoding.shortlists --model opus-mt-tiny --batch 32

Sources of 16 ids, 16 steps, one thread. Each round translates with all ids and with each number of
candidates in turn. Prints for each the median of its milliseconds a sentence, and of its speed-up
over all ids in the same round.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from benchmarks.decoding.random_model import random_transformer
from benchmarks.decoding.search import search_of
from benchmarks.decoding.workloads import END, FIRST_PIECE, PADDING
from benchmarks.sizes import SIZES
from kformer import Shortlist
from kformer.decoding.search_ids import search_ids
from kformer.decoding.shortlist import Selection
from kformer.export.tflite.quantized_embedding import with_quantized_embeddings
from kformer.export.tflite.tflite_translator import runtime_for
from kformer.export.tflite.tflite_writer import convert_to
from kformer.export.tflite_graph.flatbuffer import write_model
from kformer.export.tflite_graph.stand_ins import StandIns

LENGTH = 16  # Ids of a source, and steps.
ENTRIES = 22  # Of a source id, as `kformer shortlist` found for Multi30k and 8,000 ids.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=SIZES, default="tiny")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--precision", choices=["float32", "int8"], default="int8")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--candidates", type=int, nargs="+", default=[512, 1024])
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    transformer = random_transformer(SIZES[chosen.model], vocab_size=chosen.vocab_size)
    random = np.random.default_rng(0)
    shape = (max(2, 8 // chosen.batch), chosen.batch, LENGTH)
    batches = random.integers(FIRST_PIECE, chosen.vocab_size, shape, dtype=np.int32)
    batches[:, :, -1] = END
    sizes = [None, *chosen.candidates]
    with tempfile.TemporaryDirectory() as folder:
        runners = {size: runner(transformer, size, Path(folder), chosen) for size in sizes}
        seconds = {size: [] for size in sizes}
        for _ in range(chosen.rounds):
            for size, run in runners.items():
                start = time.perf_counter()
                for source in batches:
                    run(source=source)
                seconds[size].append(time.perf_counter() - start)
    for size, own in seconds.items():
        times = median(
            all_ids / of_size for all_ids, of_size in zip(seconds[None], own, strict=True)
        )
        each = 1000 * median(own) / batches[..., 0].size
        print(f"{size or 'all':>6} ids {each:8.2f} ms a sentence {times:6.2f} times as fast")


def random_shortlist(vocab_size: int, size: int) -> Shortlist:
    """Returns a table with random entries."""
    entries = np.random.default_rng(0).integers(FIRST_PIECE, vocab_size, ENTRIES * vocab_size)
    ends = np.arange(1, vocab_size + 1) * ENTRIES
    return Shortlist(ends, entries, np.arange(vocab_size), FIRST_PIECE, size, ("", ""))


def runner(transformer, size, folder, chosen):
    """Returns what runs the file with so many candidates, None for all ids."""
    network, search = transformer.copy(), search_of(chosen.beam_size)
    stand_ins, shape = StandIns(network), (chosen.batch, LENGTH)
    if chosen.precision == "int8":
        network = with_quantized_embeddings(network, stand_ins.constant)
    select = size and Selection(
        random_shortlist(chosen.vocab_size, size), PADDING, stand_ins.constant
    )

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.int32, "source")], autograph=False)
    def translate_ids(source):
        found = search_ids(
            network,
            source,
            search,
            runtime_for(*shape, search),
            LENGTH,
            max_lengths=tf.fill([chosen.batch], LENGTH),
            candidates=select and select(source),
        )
        return {"ids": found.ids[:, 0]}

    path = folder / f"{size}.tflite"
    write_model(convert_to(chosen.precision, {"translate_ids": translate_ids}, stand_ins), path)
    interpreter = Interpreter(str(path), num_threads=1)
    interpreter.allocate_tensors()
    return interpreter.get_signature_runner("translate_ids")


if __name__ == "__main__":
    main()
