"""The contenders, and the command that starts each."""

import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.sizes import SIZES

RIVAL = "ctranslate2"
MARIAN = "marian"
MARIAN_WEIGHTS, MARIAN_WORDS = "model.npz", "vocabulary.yml"


class Form(NamedTuple):
    """One way to run a model.

    Attributes:
        module: The file beside this one that serves it.
        precisions: What it can run with.
        suffix: Of the file or folder that holds the model; `write_models` writes it.
        parallel: Whether it can translate several batches at once.
        threaded: Whether several threads can share a batch.
        refuses: Traits of models, from `traits`, that it cannot run.
    """

    module: str
    precisions: tuple[str, ...]
    suffix: str = ""
    parallel: bool = False
    threaded: bool = True
    refuses: frozenset[str] = frozenset()


TRAINED, SSRU, NORM_FIRST = "trained", "ssru", "norm_first"
FORMS = {
    "python": Form("python_graph", ("float32",), ".keras"),
    "savedmodel": Form("saved_model", ("float32",)),
    "xla": Form("saved_model", ("float32",)),
    "tflite": Form("tflite_file", ("float32", "int8"), ".tflite", parallel=True),
    RIVAL: Form("ctranslate2_model", ("float32", "int8"), parallel=True, refuses=frozenset({SSRU})),
    # Its decoder starts from a vector of zeros, as random models do, but trained ones do not.
    MARIAN: Form(
        "marian_model", ("float32",), threaded=False, refuses=frozenset({TRAINED, NORM_FIRST})
    ),
}
RIVALS = (RIVAL, MARIAN)
PRECISIONS = ("float32", "int8")


def traits(model: str) -> frozenset[str]:
    """Returns what forms may refuse of a model, a name in SIZES or a file of a trained one."""
    if model not in SIZES:
        return frozenset({TRAINED})
    size = SIZES[model]
    has = {
        SSRU: getattr(size, "decoder_cell", "attention") == "ssru",
        NORM_FIRST: getattr(size, "norm_first", False),
    }
    return frozenset(trait for trait, here in has.items() if here)


def prefix(form: str, precision: str, of: str = "") -> str:
    """Returns what the names of a form's entries begin with, whatever their threads.

    Args:
        form, precision, of: As in `Entry`.
    """
    return f"{of} {form} {precision}, ".lstrip()


class Entry(NamedTuple):
    """A contender: a form, its precision, and how it may use the processor."""

    form: str
    precision: str
    threads: int  # For each worker.
    workers: int  # Batches translated at once.
    of: str = ""  # The model, where several take turns.

    @property
    def name(self) -> str:
        times = f"{self.workers} x " if self.workers > 1 else ""
        plural = "s" if self.threads > 1 else ""
        begin = prefix(self.form, self.precision, self.of)
        return f"{begin}{times}{self.threads} thread{plural}"

    def model(self, folder: Path) -> Path:
        """Returns where its model is, among those of `folder`."""
        return folder / f"{self.form}-{self.precision}{FORMS[self.form].suffix}"

    def command(self, folder: Path, workload: Path, beam_size: int) -> list[str]:
        """Returns the command of its process; `benchmarks.decoding.process` reads it."""
        module = f"benchmarks.decoding.{FORMS[self.form].module}"
        numbers = (beam_size, self.threads, self.workers)
        files = (str(self.model(folder)), str(workload))
        return [sys.executable, "-m", module, *files, self.precision, *map(str, numbers)]


def entries(
    forms, precisions, threads, several_batches: bool, of_model: frozenset[str] = frozenset()
) -> list[Entry]:
    """Returns all contenders.

    Args:
        forms, precisions: Those wanted, of FORMS and PRECISIONS.
        threads: Numbers of threads to try.
        several_batches: Whether there are batches enough to translate some at once; then what can
            do that also runs with as many workers as the largest number of threads, of one each.
        of_model: `traits` of the model; forms that refuse one of them are left out.
    """
    found = []
    for precision in precisions:
        for name in forms:
            form = FORMS[name]
            if precision not in form.precisions or form.refuses & of_model:
                continue
            usable = [number for number in threads if form.threaded or number == 1]
            found += [Entry(name, precision, number, 1) for number in usable]
            if several_batches and form.parallel and max(threads) > 1:
                found.append(Entry(name, precision, 1, max(threads)))
    return found
