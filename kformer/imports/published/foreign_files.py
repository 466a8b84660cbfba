"""The files of a model, whoever trained it, to a `.keras` or `.tflite` file."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kformer
from kformer.imports.packed_folder import unpacked
from kformer.imports.published.model_names import ROUTE_FILE

_OWN = (".keras", ".tflite")
_BESIDE = ".npz"  # A shortlist, beside the `.keras` file of its translator.


def keep(files: Path, folder: Path) -> dict[str, Any]:
    """Writes the model of any files to `folder`, as `model` with the suffix of its form.

    Files of kformer stay as they are. A translator of another toolkit becomes a `.keras` file, and
    its shortlist an `.npz` file.

    Args:
        files: A folder, an archive of one, or a file of kformer.

    Returns:
        What the model says about itself.

    Raises:
        FileNotFoundError, ValueError: It holds no model that kformer reads.
    """
    if files.name == ROUTE_FILE:
        shutil.copyfile(files, folder / ROUTE_FILE)
        return {}
    own = [files] if files.is_file() else [*files.iterdir()]
    own = [file for file in own if file.suffix in _OWN]
    for suffix in _OWN:
        named = [file for file in own if file.suffix == suffix]
        if len(named) > 1:
            names = ", ".join(sorted(file.name for file in named))
            raise ValueError(f"A model has one {suffix} file. Received: {names}.")
        if named:
            shutil.copyfile(named[0], folder / f"model{suffix}")
    if own:
        return {}
    with unpacked(files) as path:
        translator = _reader(path)(path)
        translator.save(folder / "model.keras")
        if translator.shortlist:
            translator.shortlist.save(folder / f"model{_BESIDE}")
        return dict(translator.about)


def _reader(folder: Path) -> Callable[[Path], Any]:
    """Returns the importer for a folder, by the names of its files."""

    def holds(*patterns):
        return all(any(folder.glob(pattern)) for pattern in patterns)

    if holds("model*.bin*", "*.spm*"):
        return lambda path: kformer.from_bergamot(path, shortlist=holds("lex*.bin*"))
    if holds("model.bin") or holds("metadata.json", "model"):
        return kformer.from_ctranslate2
    if holds("*.npz") or holds("config.json", "*.spm"):
        return kformer.from_marian
    names = ", ".join(sorted(file.name for file in folder.iterdir())[:8])
    raise ValueError(
        "A model is a .keras or .tflite file, or the files of OPUS-MT, Marian, Firefox, "
        f"CTranslate2 or Argos Translate. Received: a folder of {names or 'nothing'}."
    )
