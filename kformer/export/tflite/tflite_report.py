"""The export report of a `.tflite` file, with the measurements of its check, and its model card."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kformer
from kformer.export.model_card import model_card
from kformer.files import Publication, json_text
from kformer.pocket.metadata import REPORT_KEY, read_metadata


def write_report(
    publication: Publication,
    path: str | Path,
    report: Any,
    python: Any,
    precision: Any,
    measure: Any,
    written: Path,
    training: Mapping[str, Any] | None = None,
):
    """Writes NAME.tflite.json and the model card NAME.tflite.md beside NAME.tflite.

    Args:
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
    if training:
        content["training"] = dict(training)
    with publication.writing(report_path(path)) as temporary:
        temporary.write_text(json_text(content), "utf-8")
    card = model_card(".tflite", {**read_metadata(written), **content}, training)
    with publication.writing(card_path(path)) as temporary:
        temporary.write_text(card, "utf-8")


def report_path(path: str | Path) -> Path:
    """Returns the path of the export report of the `.tflite` file `path`."""
    return Path(path).with_name(f"{Path(path).name}.json")


def card_path(path: str | Path) -> Path:
    """Returns the path of the model card of the `.tflite` file `path`."""
    return Path(path).with_name(f"{Path(path).name}.md")
