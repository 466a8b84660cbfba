"""Decoding speed: what kformer saves, in all its forms, against CTranslate2 and Marian.

    make bench-decode
    make bench-decode ARGS="--sizes tiny --cases one batch --beams 1 --rounds 3"
    make bench-decode ARGS="--sizes opus-mt-tiny opus-mt --cases one --precisions int8"
    make bench-decode ARGS="--sizes student-tiny-ssru --beside student-tiny --contenders tflite \\
        ctranslate2 --precisions int8 --beams 1 --cases one batch"
    make bench-decode MODEL=translator.keras SOURCE=test.en

All contenders have the same weights and the same sentences, as ids; each waits in a process of its
own while the others translate. They take turns of two rounds; the second counts. The answers of the
very first are compared: whether all say the same. Medians are shown, and the ratios of rounds.
Every contender runs with each number of threads, and the best of each counts. The machine must
have nothing else to do.

Cases: `one`, a sentence at a time; `batch`, 32 at a time; `file`, 1,000 sentences of all lengths,
32 of about one length at a time, where LiteRT and CTranslate2 may also translate several batches at
once. Random models never end: source 24 ids and 32 steps in the first two, source + 8 steps in the
file. A trained model, given as a `.keras` file, takes its sentences from a text.

Beams: length penalty 0, for kformer and CTranslate2 mean different things by any other. They also
stop searching by different rules, and CTranslate2 has one limit for all of a batch: a trained
model's translations may differ for that, and the report says how many do.

Columns: tokens, without ends; `load`, from the file on disk to a blank line translated, with all
that is traced or compiled at first use, but not the import of the library; the process's peak of
memory. What each contender is given stands at the top of its file: python_graph, saved_model (for
`xla`, too, which is the same compiled), tflite_file, ctranslate2_model, marian_model. A contender
that cannot run a model is left out: CTranslate2 where the decoder has an SSRU, Marian where the
model is trained or has its norms first.

Models beside each other take turns, too, with the same sentences: an SSRU and attention, say.
"""

import contextlib
import tempfile
from pathlib import Path

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.contender import Contender, ContenderFailed
from benchmarks.decoding import report, workloads
from benchmarks.decoding.agreement import Agreement
from benchmarks.decoding.contenders import FORMS, PRECISIONS, entries, traits
from benchmarks.decoding.workloads import CASES
from benchmarks.preparation import prepare
from benchmarks.round_robin import round_robin
from benchmarks.sizes import MODEL_SIZES, SIZES

WORKLOAD = "workload.npz"


def arguments():
    parser = Parser("bench-decode", __doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(MODEL_SIZES))
    parser.add_argument("--beside", choices=SIZES, help="another one, in the same turns")
    parser.add_argument("--model", type=Path, help="a trained one, instead of all sizes")
    parser.add_argument("--source", type=Path, help="text for it to translate")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--beams", nargs="+", type=int, default=[1, 4], help="1 is greedy")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    parser.add_argument("--contenders", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5, help="that count, after one to warm up")
    chosen = parser.parse_args()
    parser.check_together(chosen, "model", "source")
    if chosen.beside and chosen.model:
        parser.error("`--beside` compares models of `--sizes`. Received: --model, too.")
    return chosen


def main():
    chosen = arguments()
    show_machine()
    summary = []
    for model in [str(chosen.model)] if chosen.model else chosen.sizes:
        models = list(dict.fromkeys(filter(None, [model, chosen.beside])))
        for case in chosen.cases:
            for beam_size in chosen.beams:
                with tempfile.TemporaryDirectory() as folder:
                    lines = measure(models, case, beam_size, Path(folder), chosen)
                title = f"{Path(model).name}, {case}, {searched(beam_size)}"
                summary += [f"{title}: {line}" for line in lines]
    print("", *summary, sep="\n")


def searched(beam_size):
    return "greedy" if beam_size == 1 else f"beam {beam_size}"


def measure(models, case, beam_size, folder, chosen):
    """Lets the contenders take turns; prints what they did and returns the last lines of it."""
    contenders, loads, agreements = {}, {}, {}
    names = models if len(models) > 1 else [""]
    with contextlib.ExitStack() as running:
        for model, of in zip(models, names, strict=True):
            racing = entries(
                chosen.contenders, chosen.precisions, chosen.threads, case == "file", traits(model)
            )
            racing = [entry._replace(of=of) for entry in racing]
            place = folder / Path(model).name
            workload = write(model, case, beam_size, place, racing, chosen.source)
            agreement = Agreement(show)
            agreements |= {entry.name: agreement for entry in racing}
            started = start(racing, place, place / WORKLOAD, beam_size, running)
            contenders |= started[0]
            loads |= started[1]
        title = f"{' and '.join(Path(model).name for model in models)}, {case}"
        print(
            f"\n{title}, {searched(beam_size)}: {workload.sentences:,} sentences, "
            f"{workload.largest} at a time, up to {workload.longest} ids, and "
            f"{workload.extra_length} more in the translation",
            flush=True,
        )
        measured = round_robin(
            contenders,
            chosen.rounds,
            lambda name, report: agreements[name].check(name, report),
            show,
        )
    several = dict.fromkeys(agreements.values())
    tokens = {name: number for one in several for name, number in one.tokens.items()}
    lines = report.ratios(measured, names) + [line for one in several for line in one.unfair]
    table = report.table(measured, loads, tokens, workload.sentences)
    print("", *table, *lines, sep="\n", flush=True)
    return lines


def write(model, case, beam_size, folder, racing, source):
    """Writes a model in the forms that race into a new folder, and returns the `Workload`."""
    folder.mkdir()
    forms = dict.fromkeys(f"{entry.form}/{entry.precision}" for entry in racing)
    text = ["--source", str(source.absolute())] if source else []
    prepare(
        "bench-decode",
        "benchmarks.decoding.write_models",
        [str(folder), case, str(beam_size), model, *forms, *text],
    )
    return workloads.load(folder / WORKLOAD)


def start(racing, folder, workload, beam_size, running):
    """Starts the contenders one after the other, so that none disturbs what another loads.

    Returns:
        contenders: name -> `Contender`, of those that could load.
        loads: name -> seconds.
    """
    contenders, loads = {}, {}
    for entry in racing:
        command = entry.command(folder, workload, beam_size)
        contender = Contender(command, folder / f"{entry.name}.log")
        running.enter_context(contextlib.closing(contender))
        try:
            loads[entry.name] = contender.round()["seconds"]
        except ContenderFailed as failed:
            show(f"load: {entry.name} FAILED: {failed}")
            continue
        contenders[entry.name] = contender
    return contenders, loads


if __name__ == "__main__":
    main()
