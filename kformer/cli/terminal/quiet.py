"""Silence for libraries that greet on stderr."""

import contextlib
import os


@contextlib.contextmanager
def quiet():
    """Sends what native code writes to stderr nowhere: notes of TensorFlow, LiteRT, XNNPACK.

    Python's errors are exceptions and not lost by this. Yields a function that writes a line to
    stderr all the same.
    """
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield lambda line: os.write(kept, f"{line}\n".encode())
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
