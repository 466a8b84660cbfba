"""A process that runs a `.tflite` file for its parent process.

Reads pickled pairs (signature, inputs by name) from stdin until it ends, and writes the pickled
outputs by name of each to stdout.
"""

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import ai_edge_litert
import numpy as np


def main(path: str | Path):
    """Runs the file at `path` until stdin ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output of libraries goes to stderr.
    run = runner(path)
    while True:
        try:
            signature, inputs = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(run(signature, inputs), answers)
        answers.flush()


def runner(path: str | Path):
    """Returns a callable (signature, inputs) -> outputs, on one core.

    `Interpreter` repacks the weights once for each loop in the file: 1 GB in 1.4 s for the base
    model in int8 with batches. `CompiledModel` repacks them once: 49 MB in 0.3 s. Its options exist
    since LiteRT 2.3, and need a system with in-memory files.
    """
    try:
        from ai_edge_litert.cpu_options import CpuOptions
        from ai_edge_litert.environment import Environment
        from ai_edge_litert.options import Options
    except ImportError:
        return _Interpreted(path)
    once = CpuOptions(num_threads=1, xnnpack_weight_cache_path=":memory")
    runtime = str(Path(ai_edge_litert.__file__).parent)
    # Plugins for other hardware are looked for where there are none: trying them takes 20 ms.
    nowhere = str(Path(__file__).parent)
    plugins = {"compiler_plugin_path": nowhere, "dispatch_library_path": nowhere}
    try:
        environment = Environment.create(runtime_path=runtime, **plugins)
        return _Compiled(path, Options(cpu_options=once), environment)
    except RuntimeError:
        return _Interpreted(path)


class _Interpreted:
    def __init__(self, path: str | Path):
        from ai_edge_litert.interpreter import Interpreter

        self._interpreter = Interpreter(model_path=path, num_threads=1)
        self._interpreter.allocate_tensors()
        self._runners: dict = {}

    def __call__(self, signature: str, inputs: dict[str, np.ndarray]):
        if signature not in self._runners:
            self._runners[signature] = self._interpreter.get_signature_runner(signature)
        return self._runners[signature](**inputs)


class _Compiled:
    def __init__(self, path: str | Path, options: Any, environment: Any):
        from ai_edge_litert.compiled_model import CompiledModel

        self._model = CompiledModel.from_file(path, environment=environment, options=options)
        self._signatures: dict = {}

    def __call__(self, signature: str, inputs: dict[str, np.ndarray]):
        index, input_buffers, output_buffers, details = self._signature(signature)
        for name, buffer in input_buffers.items():
            buffer.write(np.ascontiguousarray(inputs[name]))
        self._model.run_by_index(index, list(input_buffers.values()), list(output_buffers.values()))
        outputs = {}
        for name, buffer in output_buffers.items():
            shape = details[name]["shape"]
            values = buffer.read(int(np.prod(shape)), details[name]["dtype"])
            outputs[name] = np.reshape(values, shape)
        return outputs

    def _signature(self, name):
        """Returns a signature's index, input and output buffers by name, and outputs' details."""
        if name not in self._signatures:
            model, index = self._model, self._model.get_signature_index(name)
            names = model.get_signature_by_index(index)
            input_buffers = zip(names["inputs"], model.create_input_buffers(index), strict=True)
            output_buffers = zip(names["outputs"], model.create_output_buffers(index), strict=True)
            details = model.get_output_tensor_details(name)
            self._signatures[name] = index, dict(input_buffers), dict(output_buffers), details
        return self._signatures[name]
