"""Runs the signatures of a `.tflite` file for a stand-in of LiteRT: a line of JSON a run."""

import json
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter

interpreter = Interpreter(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    runner = interpreter.get_signature_runner(request["signature"])
    details = runner.get_input_details()
    inputs = {
        name: np.array(values, details[name]["dtype"]).reshape(details[name]["shape"])
        for name, values in request["inputs"].items()
    }
    outputs = {name: value.ravel().tolist() for name, value in runner(**inputs).items()}
    print(json.dumps({"outputs": outputs}), flush=True)
