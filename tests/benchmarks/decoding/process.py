"""A contender's own process: translates the batches whenever it is told to, else waits.

A contender is a class. Its constructor reads the model that the `Settings` name; its methods:

    given(batch): what its library wants of a batch, int32 (B, S): made once, not timed.
    translate(given): a list of answers to a list of these: timed.
    rows(answer): of each sentence of a batch, the list of its ids without the end.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from benchmarks.decoding import workloads
from benchmarks.decoding.workloads import Workload
from benchmarks.process import Rounds

LENGTH_PENALTY = 0.0  # The one that means the same in kformer and CTranslate2: scores are sums.


class Settings(NamedTuple):
    """What a contender is told."""

    model: Path
    workload: Workload
    precision: str
    beam_size: int
    threads: int
    workers: int


def serve(contender):
    """Runs a contender as the command line says: MODEL WORKLOAD PRECISION BEAMS THREADS WORKERS.

    The first round reads the model and translates a batch of blank lines: whatever is built or
    compiled at first use belongs to loading. The second round reports `ids`, too: of each
    sentence its translation.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("workload", type=workloads.load)
    parser.add_argument("precision")
    for number in ("beam_size", "threads", "workers"):
        parser.add_argument(number, type=int)
    settings = Settings(**vars(parser.parse_args()))
    batches = settings.workload.batches

    rounds = Rounds()
    rounds.begin()
    decoder = contender(settings)
    decoder.translate([decoder.given(workloads.blank_lines(batches[0]))])
    rounds.end()

    given = [decoder.given(batch) for batch in batches]
    rounds.begin()
    answers = decoder.translate(given)
    rounds.end(ids=[row for answer in answers for row in decoder.rows(answer)])
    while True:
        rounds.begin()
        decoder.translate(given)
        rounds.end()
