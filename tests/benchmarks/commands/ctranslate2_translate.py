"""A user's script for CTranslate2: a file in, a file out.

    python -m benchmarks.commands.ctranslate2_translate PRECISION OUTPUT BEAMS WORKERS THREADS

It reads `source` and the folder `ctranslate2-PRECISION`, which `export_ctranslate2` wrote, where it
runs. Sentences are sorted by length and translated 32 at a time, as kformer does.
"""

import sys
from pathlib import Path

import ctranslate2
import sentencepiece

from benchmarks.decoding.process import LENGTH_PENALTY


def main():
    precision, output, *numbers = sys.argv[1:]
    beam_size, workers, threads = map(int, numbers)
    folder = f"ctranslate2-{precision}"
    reader, writer = (
        sentencepiece.SentencePieceProcessor(model_file=f"{folder}/{side}.spm")
        for side in ("source", "target")
    )
    lines = Path("source").read_text("utf-8").splitlines()
    translator = ctranslate2.Translator(
        folder,
        compute_type=precision,
        inter_threads=workers,
        intra_threads=threads,
    )
    sources = [reader.id_to_piece(ids) for ids in reader.encode(lines)]
    results = translator.translate_batch(
        sources,
        max_batch_size=32,
        beam_size=beam_size,
        length_penalty=LENGTH_PENALTY,
        max_input_length=0,
        max_decoding_length=max(map(len, sources)) + 51,
    )
    translations = writer.decode([writer.piece_to_id(r.hypotheses[0]) for r in results])
    Path(output).write_text("".join(f"{line}\n" for line in translations), "utf-8")


if __name__ == "__main__":
    main()
