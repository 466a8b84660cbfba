"""Writes a trained model under the names of several pairs of languages.

python -m benchmarks.server.write_pairs FOLDER MODEL PRECISION BEAMS NUMBER
"""

import json
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import kformer
from benchmarks.server.language_pairs import MODELS, PACKAGES, SOURCE, TARGETS
from kformer.export import export_argos_package, export_tflite
from kformer.text.language_names import language_name
from support.argos_translate import sentence_model


def write_packages(package: Path, folder: Path, targets: list[str]):
    """Writes a package of Argos Translate into a folder, as installed, once for each target."""
    with zipfile.ZipFile(package) as archive, tempfile.TemporaryDirectory() as opened:
        archive.extractall(opened)
        (content,) = Path(opened).iterdir()
        for target in targets:
            shutil.copytree(content, folder / target)
            facts = json.loads((content / "metadata.json").read_text("utf-8"))
            facts |= {"to_code": target, "to_name": language_name(target)}
            (folder / target / "metadata.json").write_text(json.dumps(facts), "utf-8")


def main():
    folder, model, precision, *numbers = sys.argv[1:]
    beams, number = map(int, numbers)
    translator = kformer.load(model)
    for side in ("source", "target"):  # Each file gets its pair when it is served.
        translator.about.pop(f"{side}_language", None)
    models = Path(folder, MODELS)
    models.mkdir()
    path = models / f"{TARGETS[0]}.tflite"
    export_tflite(translator, path, beam_size=beams, precision=precision)
    for target in TARGETS[1:number]:
        shutil.copy(path, models / f"{target}.tflite")
    translator.about |= {"source_language": SOURCE, "target_language": TARGETS[0]}
    splitter = Path(folder, "splitter.onnx")
    splitter.write_bytes(sentence_model())
    package = export_argos_package(translator, Path(folder, "pair.argosmodel"), splitter, precision)
    # With fewer than two packages, LibreTranslate would fetch all others.
    write_packages(package, Path(folder, PACKAGES), TARGETS[: max(2, number)])


if __name__ == "__main__":
    main()
