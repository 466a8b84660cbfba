r"""`kformer serve` under load, beside a minimal server of CTranslate2.

    make bench-serve MODEL=translator.keras SOURCE=test.de
    make bench-serve MODEL=translator.keras SOURCE=test.de ARGS="--precision float32"
    make bench-serve MODEL=translator.keras SOURCE=test.de ARGS="--soak 100000"
    make bench-serve MODEL=translator.keras SOURCE=test.de \
        ARGS="--servers 'SavedModel, batched' --connections 1 8 32"

`kformer serve` runs the model as a `.tflite` file and as a folder of CTranslate2. The other server
is `ctranslate2_server.py`: the same folder, in a pool of threads, behind the same starlette and
uvicorn. All search greedily. Each connection sends a sentence, waits for its translation, and sends
the next one; the request is that of TensorFlow Serving. The servers take turns: a second to warm
up, then the seconds that count. Medians over the rounds are shown, and the memory of each server.
"CPU ms" is the processor time of the server for a sentence, which other work disturbs least.

"SavedModel, batched" is no server: it is the export of `kformer export --saved-model`, in float32,
behind TensorFlow Serving's loader and scheduler of batches, with the settings beside it. A program
in C++, `tests/native/load_saved_model.cc`, asks it from threads, without network and JSON. It needs
g++, and is measured only if --servers names it.

With --soak one server, with the `.tflite` file, gets so many requests, and its memory is shown
every 10,000. The machine must have nothing else to do; the sender takes a part of it.
"""

import asyncio
import contextlib
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.decoding.contenders import PRECISIONS
from benchmarks.preparation import prepare
from benchmarks.server.load import Load, percentile
from benchmarks.server.servers import BATCHED, SERVERS, processor_seconds, resident_bytes, running

_STEP = 10_000  # Requests of a soak between two lines.


def arguments():
    parser = Parser("bench-serve", __doc__)
    parser.add_argument("--model", type=Path, required=True, help="a .keras file")
    parser.add_argument("--source", type=Path, required=True, help="text to translate")
    parser.add_argument("--precision", choices=PRECISIONS, default="int8", help="of the weights")
    names = [*SERVERS, BATCHED]
    parser.add_argument("--servers", nargs="+", choices=names, default=[*SERVERS])
    parser.add_argument("--connections", nargs="+", type=int, default=[1, 8, 50])
    parser.add_argument("--seconds", type=int, default=5, help="of each round of a server")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--soak", type=int, help="number of requests to one server instead")
    return parser.parse_args()


def main():
    chosen = arguments()
    show_machine()
    lines = [line for line in chosen.source.read_text("utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        names = chosen.servers[:1] if chosen.soak else chosen.servers
        files = [folder, str(chosen.model.absolute()), chosen.precision, *names]
        prepare("bench-serve", "benchmarks.server.write_models", files)
        servers = {name: stack.enter_context(running(name, Path(folder), lines)) for name in names}
        if chosen.soak:
            [(name, server)] = servers.items()
            soak(name, server, lines, chosen.soak, max(chosen.connections))
            return
        for connections in chosen.connections:
            print(
                f"\n{connections} connections",
                *measure(servers, connections, chosen),
                sep="\n",
            )


def measure(servers, connections, chosen):
    """Returns the lines of a table of all servers with a number of connections."""
    rounds, spent = ({name: [] for name in servers} for _ in range(2))
    for _ in range(chosen.rounds):
        for name, server in servers.items():
            server.measure(connections, seconds=1)
            before = processor_seconds(server.process.pid)
            rounds[name].append(server.measure(connections, chosen.seconds))
            spent[name].append(
                (processor_seconds(server.process.pid) - before) / len(rounds[name][-1].latencies)
            )
            show(f"{name}: {rounds[name][-1].speed:,.0f} sentences/s")
    heads = ("p50 ms", "p95 ms", "sentences/s", "CPU ms", "MiB", "failed")
    table = [f"{'':30}" + "".join(map("{:>12}".format, heads))]
    for name, results in rounds.items():
        middle = [
            median(percentile(result.latencies, share) for result in results) for share in (50, 95)
        ]
        memory = resident_bytes(servers[name].process.pid) / 2**20
        table.append(
            f"{name:30}{middle[0] * 1e3:12.1f}{middle[1] * 1e3:12.1f}"
            f"{median(result.speed for result in results):12,.0f}{median(spent[name]) * 1e3:12.1f}"
            f"{memory:12,.0f}{sum(result.failed for result in results):12}"
        )
    return table


def soak(name, server, lines, requests, connections):
    """Sends a number of requests to a server, and prints its memory again and again."""
    load = Load(server.port, lines, connections)
    done = failed = 0
    while done < requests:
        result = asyncio.run(load.run(requests=min(_STEP, requests - done)))
        done += len(result.latencies) + result.failed
        failed += result.failed
        memory = resident_bytes(server.process.pid) / 2**20
        speed = f"{failed:,} failed, {result.speed:,.0f} a second"
        show(f"{name}: {done:,} requests, {speed}, {memory:,.1f} MiB")


if __name__ == "__main__":
    main()
