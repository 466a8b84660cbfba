"""Writes a translator in one form.

python -m benchmarks.forms.write_form MODEL FOLDER FORM BEAMS [OTHER_MODEL ...]
"""

import sys
from pathlib import Path

import kformer
from benchmarks.forms.form import ENSEMBLE, FORMS
from kformer.export import export_ctranslate2, export_saved_model, export_tflite


def main():
    model, folder, form, beams, *others = sys.argv[1:]
    path, kind, precision = Path(folder) / FORMS[form], *form.split()
    if path.exists():
        return
    if kind == ".keras":
        path.symlink_to(Path(model).absolute())
        return
    if form == ENSEMBLE:
        path.mkdir()
        for number, one in enumerate((model, *others)):
            (path / f"{number}.keras").symlink_to(Path(one).absolute())
        return
    translator = kformer.load(model)
    if kind == ".tflite":
        export_tflite(translator, path, beam_size=int(beams), precision=precision)
    elif kind == "SavedModel":
        export_saved_model(translator, path, beam_size=int(beams))
    else:
        export_ctranslate2(translator, path, precision)


if __name__ == "__main__":
    main()
