"""Writes the demo model of the package, from a run of `kformer demo`: `make demo-model`.

PYTHONPATH=tests python -m support.demo_model RUN FILE
"""

import sys
from pathlib import Path

import kformer
import kformer.export
from kformer import training
from kformer.phrasebook import phrasebook

ABOUT = {
    "title": "German to English, of kformer's built-in phrasebook",
    "source_language": "de",
    "target_language": "en",
    "licence": "Apache-2.0",
    "citation": "Made by kformer demo, of the phrasebook in kformer alone.",
}
PARTS = ("valid", "test", "unseen")


def write(run: str | Path, file: str | Path) -> Path:
    """Writes the `.tflite` file of a run; its metadata has the checksums and numbers of the run."""
    about = {**ABOUT, "training": training.training_facts(run)}
    examples = [pair.source for pair in phrasebook().valid]
    return kformer.export.export_tflite(
        kformer.load(run), file, precision="int8", examples=examples, about=about
    )


def main():
    run, file = sys.argv[1:]
    python, packaged = kformer.load(run), kformer.load(write(run, file))
    print(f"\n{'held-out sentences':<20}{'number':>8}{'right':>8}{'as Python':>11}")
    for part in PARTS:
        sources, references = zip(*getattr(phrasebook(), part), strict=True)
        answers = packaged.translate(sources)
        right = sum(map(str.__eq__, answers, references))
        equal = sum(map(str.__eq__, answers, python.translate(sources)))
        print(f"{part:<20}{len(sources):>8}{right:>8}{equal:>11}")
    print(f"Written: {file}, {Path(file).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
