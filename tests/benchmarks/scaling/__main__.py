"""What more devices and processes cost on one machine, beside a model of the time of a step.

    make bench-scaling
    make bench-scaling ARGS="--sizes tiny --rounds 3"

JAX simulates the devices, and all of them and both processes share the machine's cores. So they
are no faster than one device: the figures are the cost of dividing the work. The model of
`benchmarks.scaling.step_time` gets the speed of one device, of a copy in memory and of an exchange
between two processes, and predicts the rest. The contenders take turns; medians are shown.
"""

import contextlib
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.contender import Contender
from benchmarks.medians import seconds
from benchmarks.round_robin import round_robin
from benchmarks.scaling.step_time import Device, Network, step_time
from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training.sizes import SIZES

DIVISIONS = {  # Devices in each process, and processes.
    "1 device": (1, 1),
    "2 devices": (2, 1),
    "4 devices": (4, 1),
    "8 devices": (8, 1),
    "2 processes": (1, 2),
}
MEASURED_VALUES = 2**24  # Of the array that is copied, or summed.


def main():
    parser = Parser("bench-scaling", __doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["tiny"])
    parser.add_argument("--rounds", type=int, default=5, help="that count, after one to warm up")
    chosen = parser.parse_args()
    show_machine()
    for size in chosen.sizes:
        measured = measure(size, chosen.rounds)
        print(f"\n{size}:", *table(SIZES[size], measured), sep="\n", flush=True)


def measure(size, rounds):
    """Lets all divisions, and what the model needs to know, take turns."""
    with contextlib.ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        commands = {
            name: ("fit", size, *map(str, division)) for name, division in DIVISIONS.items()
        }
        commands |= {kind: ("links", kind, str(MEASURED_VALUES)) for kind in ("memory", "link")}
        contenders = {}
        for name, (module, *arguments) in commands.items():
            command = [sys.executable, "-m", f"benchmarks.scaling.{module}", *arguments]
            one = Contender(["env", "KERAS_BACKEND=jax", *command], folder / f"{name}.log")
            contenders[name] = running.enter_context(contextlib.closing(one))
        return round_robin(contenders, rounds, lambda name, report: None, show)


def table(size, measured):
    """Returns the lines of the report: measured milliseconds of a step, and predicted ones."""
    network = Network(size.num_layers, size.d_model, size.d_ff, VOCAB_SIZE)
    tokens = size.batch * size.length
    rate = {
        kind: median(report["bytes"] / report["seconds"] for report in measured[kind])
        for kind in ("memory", "link")
    }
    steps = {name: seconds(measured[name]) / size.steps for name in DIVISIONS if name in measured}
    update = step_time(network, Device(1, rate["memory"], 1), 1, 0, 0).update
    speed = network.flops(tokens, tokens) / (steps["1 device"] - update)
    one = Device(speed, rate["memory"], rate["memory"])
    yield f"memory {rate['memory'] / 1e9:.1f} GB/s, link {rate['link'] / 1e9:.2f} GB/s, " + (
        f"{speed / 1e9:.0f} GFLOP/s in {network.flops(tokens, tokens) / 1e9:.0f} GFLOP a step"
    )
    yield f"{'':12}{'ms a step':>10}{'of 1 device':>13}{'predicted':>11}"
    for name, found in steps.items():
        devices, processes = DIVISIONS[name]
        shared = one.shared(devices * processes)
        if processes > 1:
            shared = Device(shared.flops, shared.memory, rate["link"])
        predicted = step_time(network, shared, devices * processes, tokens, tokens).total
        yield (
            f"{name:12}{1e3 * found:10.1f}{found / steps['1 device']:13.2f}{1e3 * predicted:11.1f}"
        )


if __name__ == "__main__":
    main()
