"""Trains on simulated devices, or in several processes, in rounds; see `benchmarks.process`.

Arguments: SIZE DEVICES PROCESSES. With several processes, this one starts the others, each of
`DEVICES` devices.
"""

import contextlib
import os
import sys

from benchmarks.process import Rounds
from benchmarks.scaling.partners import SharedRounds
from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.keras_fit import fit
from benchmarks.training.sizes import DROPOUT, SIZES


def train(size, processes, process, rounds):
    """Trains until no more rounds are wanted."""
    import keras

    from benchmarks.training.batches import Batch, random_batches
    from kformer.training import Recipe
    from kformer.training.kinds.translation_learner import compiled_transformer

    recipe = Recipe.named(
        "tiny",
        vocab_size=VOCAB_SIZE,
        num_layers=size.num_layers,
        d_model=size.d_model,
        num_heads=size.num_heads,
        d_ff=size.d_ff,
        dropout=DROPOUT,
    )
    rows = size.batch // processes
    own = slice(process * rows, (process + 1) * rows)
    batches = [Batch(*(ids[own] for ids in batch)) for batch in random_batches(size)]
    keras.utils.set_random_seed(0)  # All processes must begin with the same weights.
    fit(compiled_transformer(recipe), batches, rounds)


def main(name, devices, processes, process="0", port=""):
    processes, process = int(processes), int(process)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    from kformer.training import distribute, join_processes

    if process == 0 and processes > 1:
        rounds = SharedRounds("benchmarks.scaling.fit", processes, name, devices, str(processes))
        port = rounds.port
    else:
        rounds = Rounds()
    with contextlib.ExitStack() as joined:
        if processes > 1:
            joined.enter_context(join_processes(f"127.0.0.1:{port}", processes, process))
        joined.enter_context(distribute())
        train(SIZES[name], processes, process, rounds)


if __name__ == "__main__":
    main(*sys.argv[1:])
