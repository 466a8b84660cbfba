"""The export report of a `.tflite` file, with the measurements of its check."""

from pathlib import Path
from typing import Any

import kformer
from kformer.files import Publication, json_text
from kformer.pocket.metadata import REPORT_KEY


def write_report(
    publication: Publication,
    path: str | Path,
    report: Any,
    python: Any,
    precision: Any,
    measure: Any,
):
    """Writes NAME.tflite.json beside NAME.tflite.

    Args:
        publication: `kformer.files.Publication` that the report is part of.
        path: The `.tflite` file.
        report, python: `kformer.export.Report` of the file and of Python.
        precision: Type of the weights.
        measure: Field of the reports for the quality of answers, "bleu" or "accuracy"; or None.
    """
    path = Path(path)
    content = {
        "file": path.name,
        "kformer": kformer.__version__,
        "precision": precision,
        "bytes": report.bytes,
        "sentences": report.total,
        REPORT_KEY: report.equal,
        "different_at_a_tie": report.ties,
        "different_at_a_tie_of_the_tokenizer": report.tokenizer_ties,
        "different_otherwise": report.different,
    }
    if measure:
        quality, python_quality = getattr(report, measure), getattr(python, measure)
        content |= {
            measure: quality,
            f"{measure}_of_python": python_quality,
            f"{measure}_difference": None if quality is None else quality - python_quality,
        }
    if report.signature:
        content[f"{measure}_signature"] = report.signature
    if report.doubt:
        content["unsure"] = report.doubt.figures()
    with publication.writing(report_path(path)) as temporary:
        temporary.write_text(json_text(content), "utf-8")


def report_path(path: str | Path) -> Path:
    """Returns the path of the export report of the `.tflite` file `path`."""
    return Path(path).with_name(f"{Path(path).name}.json")
