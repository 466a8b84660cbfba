"""Workers that run a `.tflite` file: in this process, or in one of their own.

Both are callables (signature, **inputs) -> outputs by name, for one thread at a time.
"""

import contextlib
import functools
import os
import pickle
import subprocess
import sys
import weakref

from ai_edge_litert.interpreter import Interpreter, OpResolverType

_TEXT = ("tokenize", "detokenize")  # Signatures without matrix products.


class InterpreterWorker:
    """Two interpreters: one for tokenization, and one for all else, loaded when needed.

    XNNPACK, which multiplies matrices, repacks all weights when it is loaded: of the tiny model in
    0.12 s, of base with batches in 1.5 s. Tokenization is 20 % faster without XNNPACK.

    Args:
        path: The `.tflite` file.
        signature: A signature that it must have.

    Raises:
        ValueError: The file is no TFLite model with this signature.
    """

    def __init__(self, path, signature):
        self._path = path
        self._runners = {}
        try:
            plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
            self._plain = Interpreter(str(path), experimental_op_resolver_type=plain)
            self._plain.get_signature_runner(signature)  # Raises if it is missing.
        except (ValueError, RuntimeError) as error:
            raise ValueError(
                f"The file must be a TFLite model with a signature {signature!r}. "
                f"Received: {str(path)!r}."
            ) from error

    def __call__(self, signature, **inputs):
        if signature not in self._runners:
            interpreter = self._plain if signature in _TEXT else self._loaded
            self._runners[signature] = interpreter.get_signature_runner(signature)
        return self._runners[signature](**inputs)

    @functools.cached_property
    def _loaded(self):
        interpreter = Interpreter(str(self._path), num_threads=1)
        interpreter.allocate_tensors()
        return interpreter

    def load(self):
        """Loads the interpreter now; LiteRT then writes to stderr."""
        return self._loaded


class ProcessWorker:
    """A process of `kformer.pocket.process`, which ends with this object or this process.

    Args:
        path: The `.tflite` file.

    Calls raise:
        ChildProcessError: The process has ended.
    """

    def __init__(self, path):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kformer.pocket.process", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # LiteRT logs there.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        weakref.finalize(self, _end, self._process)

    def __call__(self, signature, **inputs):
        process = self._process
        try:
            pickle.dump((signature, inputs), process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise ChildProcessError(
                "A process of a model must not end before the model. "
                f"Received: returncode={process.wait()}."
            ) from error


def _end(process):
    process.terminate()
    with contextlib.suppress(OSError):  # Unsent data for a process that has ended.
        process.stdin.close()
    process.stdout.close()
    process.wait()
