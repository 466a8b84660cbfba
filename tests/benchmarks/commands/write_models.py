"""Writes a text and a trained model in all the forms that `kformer translate` reads.

python -m benchmarks.commands.write_models FOLDER MODEL SOURCE BEAMS BATCH SENTENCES PRECISION ...
"""

import argparse
from pathlib import Path

import kformer
from benchmarks.commands.contenders import tflite
from benchmarks.decoding.contenders import RIVAL
from benchmarks.decoding.process import LENGTH_PENALTY
from benchmarks.decoding.write_models import check_ids, sentences_of
from kformer.export import export_ctranslate2, export_saved_model, export_tflite


def main():
    parser = argparse.ArgumentParser()
    for file in ("folder", "model", "source"):
        parser.add_argument(file, type=Path)
    for number in ("beam_size", "batch_size", "sentences"):
        parser.add_argument(number, type=int)
    parser.add_argument("precisions", nargs="+")
    chosen = parser.parse_args()
    folder, translator = chosen.folder, kformer.load(chosen.model)
    check_ids(translator)
    lines = sentences_of(chosen.source, chosen.sentences)
    (folder / "source").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    search = (chosen.beam_size, LENGTH_PENALTY)
    translator.save(folder / "model.keras")
    if "float32" in chosen.precisions:
        export_saved_model(translator, folder / "saved", *search)
    for precision in chosen.precisions:
        ctranslate2 = folder / f"{RIVAL}-{precision}"
        export_ctranslate2(
            translator, ctranslate2, precision, beam_size=search[0], length_penalty=search[1]
        )
        for batch_size in (1, chosen.batch_size):
            path = folder / tflite(precision, batched=batch_size > 1)
            export_tflite(translator, path, *search, precision=precision, batch_size=batch_size)


if __name__ == "__main__":
    main()
