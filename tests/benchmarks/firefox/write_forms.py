"""Writes the forms of one of Firefox's models that race.

    python -m benchmarks.firefox.write_forms FOLDER MODEL PACKAGES NAME ...

FOLDER keeps what is in it already; PACKAGES is node_modules; NAMES are those of the contenders.
"""

import sys
from pathlib import Path

import kformer
from benchmarks.firefox import contenders
from benchmarks.page.write_pages import write_index, write_rival
from kformer.export import export_tflite, export_web_page


def main():
    folder, model, packages = map(Path, sys.argv[1:4])
    names = sys.argv[4:]
    forms = contenders.IN_PYTHON | contenders.IN_NODE
    wanted = {forms[name][1] for name in names if name in forms}
    wanted |= {contenders.IN_CHROMIUM[name] for name in names if name in contenders.IN_CHROMIUM}
    write = {
        "translator.keras": lambda path: kformer.from_bergamot(model, False).save(path),
        "translator.tflite": lambda path: write_tflite(model, path, False),
        "shortlist.tflite": lambda path: write_tflite(model, path, True),
        "batch.tflite": lambda path: write_tflite(model, path, True, 16),
        "page": lambda path: write_page(folder, path, packages),
        "bergamot": lambda path: write_rival(model, path, False, packages, None),
        "bergamot shortlist": lambda path: write_rival(model, path, True, packages, None),
    }
    if "page" in wanted:
        wanted.add("translator.tflite")
    for name in write:  # The page's file comes before the page.
        if name in wanted and not (folder / name).exists():
            write[name](folder / name)


def write_tflite(model: Path, path: Path, shortlist: bool, batch_size: int = 1):
    translator = kformer.from_bergamot(model, shortlist)
    export_tflite(translator, path, precision="int8", batch_size=batch_size)


def write_page(folder: Path, page: Path, packages: Path):
    export_web_page(folder / "translator.tflite", page, packages / "@litertjs" / "core")
    write_index(page, "page.js")


if __name__ == "__main__":
    main()
