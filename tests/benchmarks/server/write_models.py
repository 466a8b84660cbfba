"""Writes a trained model in the forms that the servers read.

python -m benchmarks.server.write_models FOLDER MODEL PRECISION SERVER...
"""

import json
import sys
from pathlib import Path

import kformer
from benchmarks.server.servers import BATCHED, FOLDER, PROGRAM, SAVED_MODEL, TFLITE
from kformer.export import export_ctranslate2, export_saved_model, export_tflite
from support.native.saved_model_program import command, compile_for_tensorflow


def main():
    folder, model, precision, *servers = sys.argv[1:]
    translator = kformer.load(model)
    if {*servers} - {BATCHED}:
        export_tflite(translator, Path(folder, TFLITE), beam_size=1, precision=precision)
        export_ctranslate2(translator, Path(folder, FOLDER), precision, beam_size=1)
    if BATCHED in servers:
        version = export_saved_model(translator, Path(folder, SAVED_MODEL), beam_size=1)
        program = compile_for_tensorflow("load_saved_model", Path(folder), "-O2")
        Path(folder, PROGRAM).write_text(json.dumps(command(program, version)))


if __name__ == "__main__":
    main()
