"""Workers that run a `.tflite` file: in this process, or in one of their own.

All are callables (signature, **inputs) -> outputs by name. `usable` is False after a worker has
ended and cannot be called again.
"""

import atexit
import base64
import contextlib
import ctypes
import functools
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

import ai_edge_litert
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from kformer.pocket.worker_process import runner

# Lines that LiteRT logs where nothing is wrong.
_CHATTER = re.compile(rb"INFO: [\[A-Z]|WARNING: \[|\xe2\x94\x94")
# A TFLite model of one operator, ABS, which XNNPACK runs.
ABS_MODEL = base64.b64decode(
    "GAAAAFRGTDMAAA4AFAAQAAwACAAAAAQADgAAABAAAAAcAAAAtAAAAAMAAAABAAAACAAAAAQABAAEAAAAAQAAABAA"
    "AAAMABQAEAAMAAgABAAMAAAAEAAAADwAAABAAAAARAAAAAEAAAAQAAAAAAAKAAwAAAAIAAQACgAAAAgAAAAMAAAA"
    "AQAAAAEAAAABAAAAAAAAAAEAAAABAAAAAQAAAAAAAAACAAAAIAAAAAQAAADu////BAAAAAEAAAABAAAAAAAGAAgA"
    "BAAGAAAABAAAAAEAAAABAAAAAQAAABAAAAAMAAwACwAAAAAABAAMAAAAZQAAAAAAAGU="
)
_quiet = threading.Lock()
_TEXT = ("tokenize", "detokenize")  # Signatures without matrix products.
# Python runs isolated (-I): neither the working folder nor the environment changes its imports.
_PROCESS = (
    "import sys; path, *folders = sys.argv[1:]; sys.path += folders;"
    "from kformer.pocket.worker_process import main; main(path)"
)


class InterpreterWorker:
    """Two interpreters: one for tokenization, and one for all else, loaded when needed.

    XNNPACK, which multiplies matrices, repacks all weights when it is loaded: in 0.12 s for the
    tiny model, in 1.5 s for base with batches. Tokenization is 20 % faster without XNNPACK. Each
    interpreter is run by one thread at a time; others wait.

    Args:
        path: The `.tflite` file.
        signature: A signature that it must have.

    Raises:
        ValueError: The file is no TFLite model with this signature. Calls raise it, too, where the
            graph cannot be run.
    """

    usable = True

    def __init__(self, path: str | os.PathLike, signature: str):
        self._path = path
        self._runners: dict = {}
        self._locks = {is_plain: threading.Lock() for is_plain in (True, False)}
        try:
            plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
            self._plain = Interpreter(os.fspath(path), experimental_op_resolver_type=plain)
            self._plain.get_signature_runner(signature)  # Raises if it is missing.
        except (ValueError, RuntimeError) as error:
            raise ValueError(
                f"The file must be a TFLite model with a signature {signature!r}. "
                f"Received: {str(path)!r}."
            ) from error

    def __call__(self, signature: str, **inputs: np.ndarray):
        is_plain = signature in _TEXT
        with self._locks[is_plain], self._refused():
            if signature not in self._runners:
                interpreter = self._plain if is_plain else self._loaded
                self._runners[signature] = interpreter.get_signature_runner(signature)
            return self._runners[signature](**inputs)

    @functools.cached_property
    def _loaded(self):
        _greet()
        interpreter = Interpreter(os.fspath(self._path), num_threads=1)
        interpreter.allocate_tensors()
        return interpreter

    def load(self):
        """Loads the interpreter now."""
        with self._refused():
            return self._loaded

    def _refused(self):
        return refused(self._path)


class CompiledWorker:
    """A compiled model in this process, which lays out its weights once, for all signatures.

    A process of its own takes three times as long to start, and twice the memory. A call holds
    Python's lock, so threads beside each other need processes; this worker is for the main thread.

    Args:
        path: The `.tflite` file.

    Calls raise:
        ValueError: LiteRT cannot run the graph.
    """

    def __init__(self, path: str | os.PathLike):
        self._path = path
        with quiet(), refused(path):
            self._model = {"run": runner(os.fspath(path))}
        self._signatures: set[str] = set()
        weakref.finalize(self, _forget, self._model, os.getpid()).atexit = False
        _end_quietly()

    def __call__(self, signature: str, **inputs: np.ndarray):
        is_new = signature not in self._signatures  # Its buffers are made, and LiteRT logs that.
        with refused(self._path), quiet() if is_new else contextlib.nullcontext():
            outputs = self._model["run"](signature, inputs)
        self._signatures.add(signature)
        return outputs


def _forget(model, owner):
    """Deletes a compiled model, unless this process is a fork of its owner."""
    if os.getpid() == owner:
        with quiet():
            model.clear()


@functools.cache
def _end_quietly():
    """Drops what LiteRT logs when this process ends, after Python: it ends without an error.

    Only the C library's own stream is replaced, so Python can still write to stderr.
    """

    def replace():
        with contextlib.suppress(OSError, ValueError, AttributeError):  # Not the GNU C library.
            library = ctypes.CDLL(None)
            library.fopen.restype = ctypes.c_void_p
            stream = ctypes.c_void_p.in_dll(library, "stderr")
            stream.value = library.fopen(os.devnull.encode(), b"w")

    atexit.register(replace)


@contextlib.contextmanager
def refused(path: str | os.PathLike):
    """Turns LiteRT's errors about a graph into a ValueError about the file."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise ValueError(
            "The graph of a .tflite file must be one that LiteRT runs. "
            f"Received: {str(path)!r} ({str(error).splitlines()[0]:.200})."
        ) from error


@contextlib.contextmanager
def quiet():
    """Drops what LiteRT logs meanwhile: stderr is a temporary file.

    All other lines, of other threads, too, are written to stderr afterwards.
    """
    with _quiet:
        try:
            stderr = os.dup(2)
        except OSError:  # Nothing can be written.
            yield
            return
        try:
            with tempfile.TemporaryFile() as file:
                os.dup2(file.fileno(), 2)
                try:
                    yield
                finally:
                    os.dup2(stderr, 2)
                    file.seek(0)
                    for line in file:
                        if not _CHATTER.match(line):
                            os.write(2, line)
        finally:
            os.close(stderr)


@functools.cache
def _greet():
    """Lets LiteRT write its greeting, once a process, where no file of a user is read."""
    with quiet():
        Interpreter(model_content=ABS_MODEL, num_threads=1).allocate_tensors()


class ProcessWorker:
    """A process of `kformer.pocket.worker_process`, which ends with this object or this process.

    It is for one thread at a time. If a call is interrupted, the process ends: otherwise the next
    call would read the interrupted call's answer.

    Args:
        path: The `.tflite` file.

    Calls raise:
        ChildProcessError: The process has ended.
    """

    def __init__(self, path: str | os.PathLike):
        files = (np.__file__, ai_edge_litert.__file__, str(Path(__file__).parent))
        folders = dict.fromkeys(str(Path(file).absolute().parents[1]) for file in files)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROCESS, os.fspath(path), *folders],
            pass_fds=getattr(path, "descriptors", ()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # LiteRT logs there.
        )
        self._end = weakref.finalize(self, _end, self._process, os.getpid())

    @property
    def usable(self):
        return self._end.alive

    def __call__(self, signature: str, **inputs: np.ndarray):
        process = self._process
        assert process.stdin and process.stdout  # They are pipes.
        try:
            pickle.dump((signature, inputs), process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):  # It is ending.
                process.wait(timeout=1)
            self._end()
            raise ChildProcessError(
                "A process of a model must not end before the model. "
                f"Received: returncode={process.returncode}."
            ) from error
        except BaseException:
            self._end()
            raise


def _end(process, owner):
    if os.getpid() != owner:  # A fork of its owner, which goes on to use it.
        return
    if process.poll() is None:
        process.terminate()
    with contextlib.suppress(OSError):  # Unsent data for a process that has ended.
        process.stdin.close()
    process.stdout.close()
    process.wait()
