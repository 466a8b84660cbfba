r"""`kformer serve` under load, beside a minimal server of CTranslate2.

    make bench-serve MODEL=translator.keras SOURCE=test.de
    make bench-serve MODEL=translator.keras SOURCE=test.de ARGS="--precision float32"
    make bench-serve MODEL=translator.keras SOURCE=test.de ARGS="--soak 100000"
    make bench-serve MODEL=translator.keras SOURCE=test.de \
        ARGS="--servers 'SavedModel, batched' --connections 1 8 32"
    make bench-serve MODEL=translator.keras SOURCE=test.de \
        ARGS="--pairs 1 20 --connections 1 8 32 --libretranslate env/bin/libretranslate"

`kformer serve` runs the model as a `.tflite` file and as a folder of CTranslate2. The other server
is `ctranslate2_server.py`: the same folder, in a pool of threads, behind the same starlette and
uvicorn. All search greedily. Each connection sends a sentence, waits for its translation, and sends
the next one; the request is that of TensorFlow Serving. The servers take turns: a second to warm
up, then the seconds that count. The tables show medians over the rounds, and the peak of memory of
each server. "CPU ms" is its processor time for a sentence, which other work disturbs least.

"SavedModel, batched" is no server: it is the export of `kformer export --saved-model`, in float32,
behind TensorFlow Serving's loader and scheduler of batches, with the settings beside it. A program
in C++, `tests/native/load_saved_model.cc`, asks it from threads, without network and JSON. It needs
g++, and is measured only if --servers names it.

With --soak one server, with the `.tflite` file, gets so many requests, and its memory is shown
every 10,000. The machine must have nothing else to do; the sender takes a part of it.

With --pairs the servers have so many models instead, each under another pair of languages, and the
requests are LibreTranslate's, for the pairs at random. `kformer serve` has a folder of `.tflite`
files. LibreTranslate, in an environment of its own, has packages of Argos Translate that kformer
exports; it searches with as many beams, and splits sentences with a model that knows three marks
alone. With --max-memory there is another `kformer serve`, which has that option.
"""

import asyncio
import contextlib
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.decoding.contenders import PRECISIONS
from benchmarks.preparation import prepare
from benchmarks.server import language_pairs
from benchmarks.server.load import Load, percentile
from benchmarks.server.servers import (
    BATCHED,
    SERVERS,
    peak_bytes,
    processor_seconds,
    resident_bytes,
    running,
)

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
    parser.add_argument("--pairs", nargs="+", type=int, help="numbers of models to serve instead")
    parser.add_argument("--libretranslate", type=Path, help="its command, for --pairs")
    parser.add_argument("--max-memory", type=int, help="MB of another kformer serve, for --pairs")
    parser.add_argument("--beams", type=int, default=1, help="of the search, for --pairs")
    chosen = parser.parse_args()
    if chosen.pairs and max(chosen.pairs) > (most := len(language_pairs.TARGETS)):
        parser.error(f"`--pairs` must be up to {most}. Received: --pairs {max(chosen.pairs)}.")
    return chosen


def main():
    chosen = arguments()
    show_machine()
    lines = [line for line in chosen.source.read_text("utf-8").splitlines() if line.strip()]
    if chosen.pairs:
        for number in chosen.pairs:
            race_pairs(lines, number, chosen)
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        names = chosen.servers[:1] if chosen.soak else chosen.servers
        files = [folder, str(chosen.model.absolute()), chosen.precision, *names]
        prepare("bench-serve", "benchmarks.server.write_models", files)
        servers = {name: stack.enter_context(running(name, Path(folder), lines)) for name in names}
        if chosen.soak:
            [(name, server)] = servers.items()
            soak(name, server, chosen.soak, max(chosen.connections))
            return
        show_tables(servers, chosen)


def race_pairs(lines, number, chosen):
    """Prints the tables of servers of a number of pairs of languages."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = Path(place)
        files = [place, str(chosen.model.absolute()), chosen.precision]
        numbers = [str(chosen.beams), str(number)]
        prepare("bench-serve", "benchmarks.server.write_pairs", [*files, *numbers])
        print(f"\n{number} pairs, {chosen.beams} beams")
        limits = [[], ["--max-memory", str(chosen.max_memory)]][: 2 if chosen.max_memory else 1]
        requests = language_pairs.requests_for(lines, number)
        servers = {}
        for options in limits:
            server = " ".join(["kformer", *options])
            servers[server] = stack.enter_context(
                language_pairs.serving_with_kformer(server, folder, requests, options)
            )
        if chosen.libretranslate:
            servers[language_pairs.LIBRETRANSLATE] = stack.enter_context(
                language_pairs.serving_with_libretranslate(
                    chosen.libretranslate.absolute(), folder, requests, chosen.beams
                )
            )
        else:
            print("Without LibreTranslate: --libretranslate names its command.")
        for server in servers.values():  # Each model is loaded before it is measured.
            asyncio.run(Load(server.port, requests, 1).run(requests=number))
        show_tables(servers, chosen)


def show_tables(servers, chosen):
    """Prints a table for each number of connections."""
    for connections in chosen.connections:
        table = measure(servers, connections, chosen)
        print(f"\n{connections} connections", *table, sep="\n", flush=True)


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
    heads = ("p50 ms", "p95 ms", "sentences/s", "CPU ms", "peak MiB", "failed")
    table = [f"{'':30}" + "".join(map("{:>12}".format, heads))]
    for name, results in rounds.items():
        middle = [
            median(percentile(result.latencies, share) for result in results) for share in (50, 95)
        ]
        memory = peak_bytes(servers[name].process.pid) / 2**20
        table.append(
            f"{name:30}{middle[0] * 1e3:12.1f}{middle[1] * 1e3:12.1f}"
            f"{median(result.speed for result in results):12,.0f}{median(spent[name]) * 1e3:12.1f}"
            f"{memory:12,.0f}{sum(result.failed for result in results):12}"
        )
    return table


def soak(name, server, requests, connections):
    """Sends a number of requests to a server, and prints its memory again and again."""
    load = Load(server.port, server.requests, connections)
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
