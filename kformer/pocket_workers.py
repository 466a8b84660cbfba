"""What runs a `.tflite` file: an interpreter in this process, or a process of its own.

Both are callables (signature, **inputs) -> outputs by name, for one thread at a time.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import weakref

from ai_edge_litert.interpreter import Interpreter


class InterpreterWorker:
    """An interpreter.

    Args:
        path: The `.tflite` file.
        signature: One that it must have.

    Raises:
        ValueError: The file is not what it should be.
    """

    def __init__(self, path, signature):
        self._path = path
        try:
            self._interpreter = Interpreter(model_path=str(path), num_threads=1)
            self._interpreter.allocate_tensors()  # Now, so that what is wrong shows now.
        except (ValueError, RuntimeError) as error:
            raise self._error(signature) from error
        self._runners = {signature: self._runner(signature)}

    def __call__(self, signature, **inputs):
        if signature not in self._runners:
            self._runners[signature] = self._runner(signature)
        return self._runners[signature](**inputs)

    def _runner(self, signature):
        try:
            return self._interpreter.get_signature_runner(signature)
        except (ValueError, RuntimeError) as error:
            raise self._error(signature) from error

    def _error(self, signature):
        return ValueError(
            f"The file must be a TFLite model with a signature {signature!r}. "
            f"Received: {str(self._path)!r}."
        )


class ProcessWorker:
    """A process, see `kformer.pocket_process`; it ends with this object, or with this process.

    Args:
        path: The `.tflite` file.

    Raises:
        ChildProcessError: When called: the process is gone.
    """

    def __init__(self, path):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kformer.pocket_process", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # LiteRT says a lot there.
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
                "A process that translates must not end before its time. "
                f"Received: returncode={process.wait()}."
            ) from error


def _end(process):
    process.terminate()
    with contextlib.suppress(OSError):  # What was written to a process that is gone.
        process.stdin.close()
    process.stdout.close()
    process.wait()
