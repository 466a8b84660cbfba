"""Translates with a folder of Marian's own that CTranslate2 converts.

Run as `python -m support.pretrained.with_ctranslate2 FOLDER SOURCES ANSWERS`. SOURCES is a JSON
file of sentences as lists of pieces; lists of those of their translations are written to ANSWERS.
"""

import json
import sys
from pathlib import Path


def main(folder, sources, answers):
    import ctranslate2

    [weights], [vocabulary] = Path(folder).glob("*.npz"), Path(folder).glob("*.yml")
    converter = ctranslate2.converters.MarianConverter(str(weights), [str(vocabulary)] * 2)
    converter.convert(str(Path(folder) / "converted"))
    translator = ctranslate2.Translator(str(Path(folder) / "converted"), intra_threads=1)
    rows = json.loads(Path(sources).read_text("utf-8"))
    lengths = {"min_decoding_length": 0, "max_decoding_length": 60}
    found = translator.translate_batch(
        rows, beam_size=1, max_batch_size=1, return_end_token=True, **lengths
    )
    said = [one.hypotheses[0] for one in found]
    Path(answers).write_text(json.dumps(said), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
