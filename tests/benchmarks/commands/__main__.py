"""A file through `kformer translate`, from the start of the process to its end, set-up included.

    make bench-translate MODEL=translator.keras SOURCE=test.en
    make bench-translate MODEL=translator.keras SOURCE=test.en ARGS="--beams 1 --rounds 3"

The rival is a short Python script for CTranslate2, `ctranslate2_translate.py`, with the same
weights and the same SentencePiece model; all of its ways to use the cores run, and the best of them
counts. `kformer translate` finds its own; "folder" is a folder of CTranslate2, and "--engine" makes
one of the `.keras` file. Each form of the model was exported before. The length
penalty is 0, for any other means different things in the two.

Commands take turns of two runs; the second counts. Medians are shown, the ratios of neighbouring
runs, and how many translations are those of the `.keras` file. The machine must have nothing else
to do.
"""

import tempfile
from pathlib import Path

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.commands import report
from benchmarks.commands.command import Command
from benchmarks.commands.contenders import commands
from benchmarks.decoding.agreement import Agreement
from benchmarks.decoding.contenders import PRECISIONS
from benchmarks.preparation import prepare
from benchmarks.round_robin import round_robin


def arguments():
    parser = Parser("bench-translate", __doc__)
    parser.add_argument("--model", type=Path, required=True, help="a .keras file")
    parser.add_argument("--source", type=Path, required=True, help="text for it to translate")
    parser.add_argument("--sentences", type=int, default=1000, help="at most, from the beginning")
    parser.add_argument("--beams", nargs="+", type=int, default=[1, 4], help="1 is greedy")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--batch", type=int, default=32, help="of a .tflite file with batches")
    parser.add_argument("--rounds", type=int, default=5, help="that count, after one to warm up")
    return parser.parse_args()


def main():
    chosen = arguments()
    show_machine()
    summary = []
    for beam_size in chosen.beams:
        title = "greedy" if beam_size == 1 else f"beam {beam_size}"
        with tempfile.TemporaryDirectory() as folder:
            lines = measure(beam_size, Path(folder), chosen)
        summary += [f"{title}: {line}" for line in lines]
    print("", *summary, sep="\n")


def measure(beam_size, folder, chosen):
    """Lets the commands take turns; prints what they did and returns the last lines of it."""
    files = [str(folder), str(chosen.model.absolute()), str(chosen.source.absolute())]
    numbers = [str(beam_size), str(chosen.batch), str(chosen.sentences)]
    arguments = [*files, *numbers, *chosen.precisions]
    prepare("bench-translate", "benchmarks.commands.write_models", arguments)
    racing = {
        name: Command(command, folder)
        for name, command in commands(folder, beam_size, chosen.precisions).items()
    }
    agreement = Agreement(show)
    measured = round_robin(racing, chosen.rounds, agreement.check, show)
    sentences = len((folder / "source").read_text("utf-8").splitlines())
    lines = [*report.ratios(measured), *agreement.unfair]
    print("", *report.table(measured, sentences), *lines, sep="\n", flush=True)
    return lines


if __name__ == "__main__":
    main()
