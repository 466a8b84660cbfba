"""Writes a trained model in the forms that the servers read.

python -m benchmarks.server.write_models FOLDER MODEL PRECISION
"""

import sys
from pathlib import Path

import kformer
from benchmarks.server.servers import FOLDER, TFLITE
from kformer.export import export_ctranslate2, export_tflite


def main():
    folder, model, precision = sys.argv[1:]
    translator = kformer.load(model)
    export_tflite(translator, Path(folder, TFLITE), beam_size=1, precision=precision)
    export_ctranslate2(translator, Path(folder, FOLDER), precision, beam_size=1)


if __name__ == "__main__":
    main()
