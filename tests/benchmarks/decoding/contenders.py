"""The contenders, and the command that starts each."""

import sys
from pathlib import Path
from typing import NamedTuple

RIVAL = "ctranslate2"


class Form(NamedTuple):
    """One way to run a model.

    Attributes:
        module: The file beside this one that serves it.
        precisions: What it can run with.
        suffix: Of the file or folder that holds the model; `write_models` writes it.
        parallel: Whether it can translate several batches at once.
    """

    module: str
    precisions: tuple[str, ...]
    suffix: str = ""
    parallel: bool = False


FORMS = {
    "python": Form("python_graph", ("float32",), ".keras"),
    "savedmodel": Form("saved_model", ("float32",)),
    "xla": Form("saved_model", ("float32",)),
    "tflite": Form("tflite_file", ("float32", "int8"), ".tflite", parallel=True),
    RIVAL: Form("ctranslate2_model", ("float32", "int8"), parallel=True),
}
PRECISIONS = ("float32", "int8")


def prefix(form: str, precision: str) -> str:
    """Returns what the names of a form's entries begin with, whatever their threads."""
    return f"{form} {precision}, "


class Entry(NamedTuple):
    """A contender: a form, its precision, and how it may use the processor."""

    form: str
    precision: str
    threads: int  # For each worker.
    workers: int  # Batches translated at once.

    @property
    def name(self) -> str:
        times = f"{self.workers} x " if self.workers > 1 else ""
        plural = "s" if self.threads > 1 else ""
        return f"{prefix(self.form, self.precision)}{times}{self.threads} thread{plural}"

    def model(self, folder: Path) -> Path:
        """Returns where its model is, among those of `folder`."""
        return folder / f"{self.form}-{self.precision}{FORMS[self.form].suffix}"

    def command(self, folder: Path, workload: Path, beam_size: int) -> list[str]:
        """Returns the command of its process; `benchmarks.decoding.process` reads it."""
        module = f"benchmarks.decoding.{FORMS[self.form].module}"
        numbers = (beam_size, self.threads, self.workers)
        files = (str(self.model(folder)), str(workload))
        return [sys.executable, "-m", module, *files, self.precision, *map(str, numbers)]


def entries(forms, precisions, threads, several_batches: bool) -> list[Entry]:
    """Returns all contenders.

    Args:
        forms, precisions: Those wanted, of FORMS and PRECISIONS.
        threads: Numbers of threads to try.
        several_batches: Whether there are batches enough to translate some at once; then what can
            do that also runs with as many workers as the largest number of threads, of one each.
    """
    found = []
    for precision in precisions:
        for name in forms:
            form = FORMS[name]
            if precision not in form.precisions:
                continue
            found += [Entry(name, precision, number, 1) for number in threads]
            if several_batches and form.parallel and max(threads) > 1:
                found.append(Entry(name, precision, 1, max(threads)))
    return found
