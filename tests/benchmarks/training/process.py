"""A contender's own process: trains a round of batches whenever it is told to, else waits.

A contender is a function `train(size, dtype, options, batches, rounds)` that builds its model and
then trains for ever, in the loop of its library, between `rounds.begin()` and `rounds.end()`.
"""

import argparse

from benchmarks.process import Rounds
from benchmarks.training import batches as batch_files
from benchmarks.training.sizes import DTYPES, SIZES


def serve(train):
    """Runs a contender as the command line says: SIZE DTYPE FILE-OF-BATCHES [OPTION ...]."""
    parser = argparse.ArgumentParser()
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("dtype", choices=DTYPES)
    parser.add_argument("batches")
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    batches = batch_files.load(arguments.batches)
    train(SIZES[arguments.size], arguments.dtype, arguments.options, batches, Rounds())
