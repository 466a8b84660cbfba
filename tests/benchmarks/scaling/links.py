"""How fast memory is copied, or how fast two processes sum an array; see `benchmarks.process`.

Arguments: "memory" or "link", and the number of float32 values.
"""

import sys

import numpy as np

from benchmarks.process import Rounds
from benchmarks.scaling.partners import SharedRounds
from benchmarks.scaling.step_time import FLOAT32

REPEATS = 5  # In a round.


def copy(number, rounds):
    """Copies an array; each value is read and written."""
    source, target = np.ones(number, np.float32), np.empty(number, np.float32)
    while True:
        rounds.begin()
        for _ in range(REPEATS):
            np.copyto(target, source)
        rounds.end(bytes=REPEATS * 2 * FLOAT32 * number)


def add(number, rounds):
    """Sums an array over all processes, as a step does with gradients."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("process",))
    own = NamedSharding(mesh, PartitionSpec("process"))
    everywhere = NamedSharding(mesh, PartitionSpec())
    values = jax.make_array_from_process_local_data(own, np.ones((1, number), np.float32))
    total = jax.jit(lambda values: values.sum(axis=0), out_shardings=everywhere)
    while True:
        rounds.begin()
        for _ in range(REPEATS):
            total(values).block_until_ready()
        rounds.end(bytes=REPEATS * FLOAT32 * number)  # 2 (n - 1) / n is 1 for two processes.


def main(kind, number, process="0", port=""):
    if kind == "memory":
        copy(int(number), Rounds())
    if process == "0":
        rounds = SharedRounds("benchmarks.scaling.links", 2, kind, number)
        port = rounds.port
    else:
        rounds = Rounds()
    import jax

    jax.distributed.initialize(f"127.0.0.1:{port}", 2, int(process))
    add(int(number), rounds)


if __name__ == "__main__":
    main(*sys.argv[1:])
