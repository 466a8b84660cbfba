"""Training speed: kformer's `model.fit` against PyTorch's nn.Transformer, KerasHub and Marian.

    make bench-train
    make bench-train SOURCE=train.en TARGET=train.de
    make bench-train ARGS="--sizes tiny --dtypes float32 --contenders kformer torch --rounds 3"

Every contender trains the same batches in the loop that its users write, in a process of its own
that waits while the others train. They take turns of two rounds; the second counts. Medians are
shown, and the ratios of neighbouring rounds. Padding is no token. The machine must have nothing
else to do: PyTorch's threads wait for each other, and one core that is shared slows them several
times over.

What each is given stands at the top of its file: kformer_fit, torch_loop, kerashub_fit,
marian_train, which trains in float32 alone. All have
the paper's post-norm model with one shared table, dropout 0.1, Adam 0.9/0.98, and, for bfloat16,
their library's mixed precision. Those called -jax run on Keras's JAX backend. kformer also counts
accuracy and perplexity, as in `kformer train`; the others only learn.
"""

import contextlib
import math
import tempfile
from pathlib import Path

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.contender import Contender, ContenderFailed
from benchmarks.preparation import prepare
from benchmarks.round_robin import round_robin
from benchmarks.sizes import VOCAB_SIZE
from benchmarks.training import batches as batch_files
from benchmarks.training import report
from benchmarks.training.contenders import COMMANDS, PEAK, command, trains_in
from benchmarks.training.sizes import DTYPES, SIZES, step_flops


def arguments():
    parser = Parser("bench-train", __doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--contenders", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--rounds", type=int, default=5, help="that count, after one to warm up")
    parser.add_argument("--source", type=Path, help="real text to train on, too")
    parser.add_argument("--target", type=Path, help="its translation, line by line")
    chosen = parser.parse_args()
    parser.check_together(chosen, "source", "target")
    return chosen


def main():
    chosen = arguments()
    show_machine()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        workloads = {"random ids": write_random(folder / "random", chosen.sizes)}
        if chosen.source:
            workloads["real text"] = write_text(folder / "text", chosen)
        summary = []
        for words, batches in workloads.items():
            for size in chosen.sizes:
                for dtype in chosen.dtypes:
                    title = f"{size} {dtype}, {words}"
                    measured = measure(title, size, dtype, batches / f"{size}.npz", chosen)
                    summary += [f"{title}: {line}" for line in report.ratios(measured)]
    print("", *summary, sep="\n")


def write_random(folder, sizes):
    """Writes folder/SIZE.npz for each size; returns the folder."""
    folder.mkdir()
    for name in sizes:
        batch_files.save(folder / f"{name}.npz", batch_files.random_batches(SIZES[name]))
    return folder


def write_text(folder, chosen):
    """Like `write_random`, in a process of its own, because it needs TensorFlow."""
    folder.mkdir()
    files = [str(path.absolute()) for path in (chosen.source, chosen.target, folder)]
    prepare("bench-train", "benchmarks.training.text_batches", [*files, *chosen.sizes])
    return folder


def measure(title, size, dtype, file, chosen):
    """Lets the contenders take turns at one file of batches; prints and returns what they did."""
    batches = batch_files.load(file)
    tokens = batch_files.target_tokens(batches)
    flops = sum(
        step_flops(SIZES[size], *batch.source.shape, batch.target_in.shape[1]) for batch in batches
    )
    print(
        f"\n{title}: {len(batches)} batches of {batches[0].source.size:,} ids or about that, "
        f"{tokens:,} target tokens",
        flush=True,
    )
    with contextlib.ExitStack() as running:
        contenders = {}
        able = [name for name in chosen.contenders if trains_in(name, dtype)]
        for name in (*able, PEAK):
            log = file.with_name(f"{name}.log")
            contender = Contender(command(name, size, dtype, file), log)
            contenders[name] = running.enter_context(contextlib.closing(contender))
        measured = round_robin(contenders, chosen.rounds, check_first_loss, show)
    print("", *report.table(measured, tokens, flops), sep="\n", flush=True)
    return measured


def check_first_loss(name, measured):
    """A new model's guess is about as good as any: it is about log V surprised."""
    if "loss" in measured and not abs(measured["loss"] - math.log(VOCAB_SIZE)) < 1:
        raise ContenderFailed(
            f"the first loss is {measured['loss']:.3f}, not near {math.log(VOCAB_SIZE):.3f}"
        )


if __name__ == "__main__":
    main()
