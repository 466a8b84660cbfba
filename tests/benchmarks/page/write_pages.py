"""Writes the sentences and the page of each contender, all of one folder of Firefox's.

    python -m benchmarks.page.write_pages FOLDER MODEL PACKAGES ALONE TOGETHER NAME ...

MODEL is a size of random weights, or a folder; then --source is the text to translate.
"""

import argparse
import gzip
import json
import shutil
from pathlib import Path

import kformer
from benchmarks.decoding.write_models import sentences_of
from benchmarks.page.contenders import INDEX, PAGE, WITH_SHORTLIST, Sentences
from benchmarks.page.random_folder import (
    LENGTH_FACTOR,
    sentences,
    vocabulary,
    write_random_folder,
)
from benchmarks.sizes import SIZES
from kformer.export import export_tflite, export_web_page

HERE = Path(__file__).parent
PARTS = {"model": "model*.bin", "vocab": "vocab*.spm", "lex": "lex*.bin"}  # As a registry has them.
PARTS |= {"srcvocab": "srcvocab*.spm", "trgvocab": "trgvocab*.spm"}
_FACTOR = "max-length-factor: 2.0"  # In the package's worker.


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("model")
    parser.add_argument("packages", type=Path)
    parser.add_argument("alone", type=int)
    parser.add_argument("together", type=int)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--source", type=Path)
    chosen = parser.parse_args()
    count = 1 + chosen.alone + chosen.together
    if chosen.source:
        firefox, texts = Path(chosen.model), distinct(sentences_of(chosen.source, None), count)
    else:
        size = SIZES[chosen.model]
        words = vocabulary(size.vocab_size)
        firefox = write_random_folder(chosen.folder / "firefox", size, words)
        texts = sentences(words, count)
    first, alone, together = texts[0], texts[1 : 1 + chosen.alone], texts[1 + chosen.alone :]
    content = json.dumps(Sentences(first, alone, together))
    (chosen.folder / "sentences.json").write_text(content, "utf-8")
    factor = None if chosen.source else LENGTH_FACTOR
    for name in chosen.names:
        folder = chosen.folder / name
        if name.startswith(PAGE):
            write_page(firefox, folder, name.endswith(WITH_SHORTLIST), chosen.packages)
        else:
            write_rival(firefox, folder, name.endswith(WITH_SHORTLIST), chosen.packages, factor)


def distinct(lines: list[str], count: int) -> list[str]:
    """Returns the first `count` different lines."""
    lines = list(dict.fromkeys(lines))
    if len(lines) < count:
        raise ValueError(f"There must be {count} different sentences. Received: {len(lines)}.")
    return lines[:count]


def write_page(firefox: Path, folder: Path, with_shortlist: bool, packages: Path):
    """As `kformer export --web` writes a page, in int8.

    Args:
        firefox: Folder of Firefox's.
        folder: A new folder.
        with_shortlist: Whether the page chooses among candidates.
        packages: node_modules.
    """
    translator = kformer.from_bergamot(firefox, with_shortlist)
    tflite = export_tflite(translator, folder.with_suffix(".tflite"), precision="int8")
    export_web_page(tflite, folder, packages / "@litertjs" / "core")
    write_index(folder, "page.js")


def write_rival(
    firefox: Path, folder: Path, with_shortlist: bool, packages: Path, factor: str | None
):
    """Copies the package and the files of the model, with the registry that it looks for.

    Args:
        firefox, folder, with_shortlist, packages: As for `write_page`.
        factor: The limit of a translation for random models; None for the package's own.
    """
    shutil.copytree(packages / "@browsermt" / "bergamot-translator", folder / "package")
    if factor:
        worker = folder / "package" / "worker" / "translator-worker.js"
        text = worker.read_text("utf-8")
        if text.count(_FACTOR) != 1:
            raise ValueError(f"The package's worker must have {_FACTOR!r}. Received: {worker}.")
        worker.write_text(text.replace(_FACTOR, f"max-length-factor: {factor}"), "utf-8")
    files = {}
    for part, pattern in PARTS.items():
        found = sorted({*firefox.glob(pattern), *firefox.glob(f"{pattern}.gz")})
        if found and (part != "lex" or with_shortlist):
            content = found[0].read_bytes()
            unpacked = gzip.decompress(content) if found[0].suffix == ".gz" else content
            (folder / part).write_bytes(unpacked)
            files[part] = {"name": part}
    (folder / "registry.json").write_text(json.dumps({"xxyy": files}), "utf-8")
    write_index(folder, "bergamot.js")


def write_index(folder: Path, script: str):
    """Writes INDEX, which loads the script of a contender and `race.js`."""
    for name in (script, "race.js"):
        shutil.copyfile(HERE / name, folder / f"bench-{name}")
    scripts = "".join(f'<script src="bench-{name}"></script>\n' for name in (script, "race.js"))
    (folder / INDEX).write_text(f'<!doctype html>\n<meta charset="utf-8">\n{scripts}', "utf-8")


if __name__ == "__main__":
    main()
