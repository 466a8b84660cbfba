"""Runs a `.tflite` file in a runtime, with NumPy and without this package.

    python answer_in_a_runtime.py PACKAGE FILE SIGNATURE... < TEXTS

TEXTS is JSON, a list of byte strings in hexadecimal. Prints JSON: the path of the package, and for
each text a list of outputs by name, one dict for each signature.
"""

import importlib
import json
import sys

import numpy as np


def outputs_of(runner, text):
    """Returns the outputs of a signature by name.

    Args:
        runner: Runner of a signature that takes `source`, of whichever interpreter.
        text: Bytes, of which only so many are read as the file takes.
    """
    [room] = runner.get_input_details()["source"]["shape"]
    source = np.frombuffer(text[:room], np.uint8)
    return runner(source=np.pad(source, (0, room - len(source))))


def main():
    package, path, *signatures = sys.argv[1:]
    interpreter = importlib.import_module(f"{package}.interpreter")
    loaded = interpreter.Interpreter(path)
    runners = [loaded.get_signature_runner(name) for name in signatures]
    rows = []
    for text in json.load(sys.stdin):
        answers = [outputs_of(runner, bytes.fromhex(text)) for runner in runners]
        rows.append([{name: array.tolist() for name, array in one.items()} for one in answers])
    print(json.dumps([interpreter.__file__, rows]))


if __name__ == "__main__":
    main()
