"""Loads one form of a translator and translates lines, each alone, on one thread.

python -m benchmarks.forms.form FORM PATH TEXT BEAMS
"""

import os
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.process import Rounds

ENSEMBLE = "ensemble float32"
FORMS = {  # Kind and precision -> the file or the folder.
    ".keras float32": "float32.keras",
    ENSEMBLE: "ensemble",
    ".tflite float32": "float32.tflite",
    ".tflite float16": "float16.tflite",
    ".tflite int8": "int8.tflite",
    "SavedModel float32": "saved",
    "CTranslate2 int8": "ctranslate2",
}


def main():
    form, path, text, beams = sys.argv[1:]
    lines = Path(text).read_text("utf-8").splitlines()
    os.sched_setaffinity(0, {0})
    rounds = Rounds()
    rounds.begin()
    load = loader(form, int(beams))
    start = time.perf_counter()
    translator = load(path)
    translator.translate(lines[:1])  # What is large is loaded now.
    loaded = time.perf_counter()
    times, translations = [], []
    for line in lines:
        begun = time.perf_counter()
        translations += translator.translate([line])
        times.append(time.perf_counter() - begun)
    rounds.end(
        load=loaded - start,
        sentence=median(times),
        whole=sum(times),
        translations=[str(one) for one in translations],
    )


def loader(form, beams):
    """Returns what loads a form, imported."""
    if form.startswith(".tflite"):
        from kformer.pocket import PocketTranslator

        return lambda path: PocketTranslator(path, workers=1)
    if form.startswith("CTranslate2"):
        import ctranslate2
        import sentencepiece

        return lambda path: CTranslate2(
            ctranslate2.Translator(path, compute_type="int8", intra_threads=1),
            *(
                sentencepiece.SentencePieceProcessor(model_file=f"{path}/{side}.spm")
                for side in ("source", "target")
            ),
            beams,
        )
    import kformer

    if form.startswith(".keras"):
        return lambda path: Keras(kformer.load(path), beams)
    if form == ENSEMBLE:
        return lambda folder: Keras(
            kformer.Ensemble([kformer.load(path) for path in sorted(Path(folder).iterdir())]), beams
        )
    return kformer.load


class Keras:
    """A translator or an ensemble in Python, where each call says the number of beams."""

    def __init__(self, translator, beams):
        self._translator, self._beams = translator, beams

    def translate(self, lines):
        return self._translator.translate(lines, beam_size=self._beams)


class CTranslate2:
    """A folder for CTranslate2, without TensorFlow in the same process."""

    def __init__(self, translator, source, target, beams):
        self._translator, self._beams = translator, beams
        self._source, self._target = source, target

    def translate(self, lines):
        sources = [self._source.id_to_piece(self._source.encode(line)) for line in lines]
        results = self._translator.translate_batch(
            sources, beam_size=self._beams, max_decoding_length=max(map(len, sources)) + 51
        )
        return [self._target.decode(one.hypotheses[0]) for one in results]


if __name__ == "__main__":
    main()
