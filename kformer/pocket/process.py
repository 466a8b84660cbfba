"""A process that runs a `.tflite` file for another one, which talks to it by pickles.

    python -m kformer.pocket.process FILE

Reads (signature, inputs by name) from stdin, and writes the outputs by name to stdout, one after
the other, until stdin ends.
"""

import os
import pickle
import sys

import numpy as np


def main():
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What a library prints is no answer.
    run = runner(sys.argv[1])
    while True:
        try:
            signature, inputs = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(run(signature, inputs), answers)
        answers.flush()


def runner(path):
    """Returns a callable (signature, inputs) -> outputs, on one core.

    LiteRT lays out the weights anew wherever they are used, once for each loop in the file: of the
    base model in 8 bits with batches, 1 GB in 1.4 s. `CompiledModel` does so once, 49 MB in 0.3 s.
    It has the options for that since 2.3, and needs a system that keeps files in memory.
    """
    try:
        from ai_edge_litert.cpu_options import CpuOptions
        from ai_edge_litert.options import Options
    except ImportError:
        return _Interpreted(path)
    once = CpuOptions(num_threads=1, xnnpack_weight_cache_path=":memory")
    try:
        return _Compiled(path, Options(cpu_options=once))
    except RuntimeError:
        return _Interpreted(path)


class _Interpreted:
    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter

        self._interpreter = Interpreter(model_path=path, num_threads=1)
        self._interpreter.allocate_tensors()
        self._runners = {}

    def __call__(self, signature, inputs):
        if signature not in self._runners:
            self._runners[signature] = self._interpreter.get_signature_runner(signature)
        return self._runners[signature](**inputs)


class _Compiled:
    def __init__(self, path, options):
        from ai_edge_litert.compiled_model import CompiledModel

        self._model = CompiledModel.from_file(path, options=options)
        self._signatures = {}

    def __call__(self, signature, inputs):
        index, given, found, details = self._signature(signature)
        for name, buffer in given.items():
            buffer.write(np.ascontiguousarray(inputs[name]))
        self._model.run_by_index(index, list(given.values()), list(found.values()))
        outputs = {}
        for name, buffer in found.items():
            shape = details[name]["shape"]
            values = buffer.read(int(np.prod(shape)), details[name]["dtype"])
            outputs[name] = np.reshape(values, shape)
        return outputs

    def _signature(self, name):
        """Returns its number, its buffers by name, and of its outputs shape and dtype."""
        if name not in self._signatures:
            model, index = self._model, self._model.get_signature_index(name)
            names = model.get_signature_by_index(index)
            given = zip(names["inputs"], model.create_input_buffers(index), strict=True)
            found = zip(names["outputs"], model.create_output_buffers(index), strict=True)
            details = model.get_output_tensor_details(name)
            self._signatures[name] = index, dict(given), dict(found), details
        return self._signatures[name]


if __name__ == "__main__":
    main()
