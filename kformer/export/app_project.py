"""A project of an app around a `.tflite` file: its files, most of them templates."""

import shutil
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import kformer
from kformer.archives import Archive
from kformer.files import Publication, check_writable, part_of
from kformer.json_files import parse_json
from kformer.kinds import TRANSLATOR
from kformer.pocket.metadata import VECTORS, check_kind, check_whole, read_metadata

MODEL = "translator.tflite"
LICENCE = "LICENSE"  # Of the project's sources; the model's is in its metadata.
_SIGNATURE = "translate"


def read_translator(tflite: Path, folder: Path) -> dict[str, Any]:
    """Returns the metadata of a file that an app can translate with."""
    check_writable(folder)
    metadata = read_metadata(tflite)
    check_kind(tflite, metadata, TRANSLATOR)
    check_whole(tflite, metadata)
    signatures = metadata.get("signatures", [_SIGNATURE])
    if metadata["format"] < 2 or _SIGNATURE not in signatures:
        raise ValueError(
            f"An app needs a .tflite file with the signature {_SIGNATURE!r}; export it again. "
            f"Received: format={metadata['format']}, signatures={signatures!r} in {str(tflite)!r}."
        )
    return metadata


def project_values(tflite: Path, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of the templates by their names."""
    source, target = (metadata.get(f"{side}_language") for side in ("source", "target"))
    several = metadata.get("target_languages", {})
    name = "Translator"
    if source and target:
        name = " ".join((name, source, "\u2192", target))
    facts = {
        "Model": f"{tflite.stat().st_size / 1e6:.1f} MB, {metadata['precision']}",
        "Source language": source,
        "Target languages": ", ".join(several) or target,
        "Licence": metadata.get("licence"),
        "Citation": metadata.get("citation"),
    }
    return {
        "name": name,
        "version": kformer.__version__,
        "about": "\n".join(f"- {fact}: {value}" for fact, value in facts.items() if value),
        "bytes": metadata["max_source_bytes"],
        "ids": metadata["max_source_length"],
        "example": _example(tflite),
    }


def _example(tflite):
    """Returns a held-out sentence that the file carries, if it carries one."""
    with Archive(tflite, "A .tflite file must end in an archive with its metadata.") as archive:
        vectors = parse_json(archive.read(VECTORS) or b"[]", list)
    texts = (vector["text"] for vector in vectors)
    return next((text for text in texts if not {*text} & {*'"$\\'}), "Text")


def write_project(
    package: str,
    tflite: Path,
    folder: Path,
    files: Mapping[str, str],
    values: Mapping[str, str],
    publication: Publication | None,
) -> Path:
    """Writes the folder of a project.

    Args:
        files: A path in the project -> a file of `package`, or `MODEL` or `LICENCE`. The text of
            the files in `values` is given there; the others are copied.
        values: The name of a file -> its text.
        publication: `kformer.files.Publication` that the project is part of; if None, its own.
    """
    templates = resources.files(package)
    licence = resources.files("kformer.export.web") / LICENCE
    with part_of(publication) as together, together.writing(folder) as temporary:
        for place, name in files.items():
            path = temporary / place
            path.parent.mkdir(parents=True, exist_ok=True)
            if name == MODEL:
                shutil.copyfile(tflite, path)
            elif name in values:
                path.write_text(values[name], "utf-8")
            else:
                source = licence if name == LICENCE else templates / name
                path.write_bytes(source.read_bytes())
    return folder


def filled(package: str, name: str, values: Mapping[str, Any]) -> str:
    """Returns the text of a template in `package`."""
    return Template((resources.files(package) / name).read_text("utf-8")).substitute(values)
