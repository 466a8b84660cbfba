"""The receipt of a `.tflite` file: what was measured when it was written."""

import json
from pathlib import Path

import kformer
from kformer.pocket.metadata import RECEIPT


def write_receipt(publication, path, report, python, precision):
    """Writes NAME.tflite.json beside NAME.tflite.

    Args:
        publication: `kformer.files.Publication`, with which it appears.
        path: The `.tflite` file.
        report, python: `kformer.export.Report` of the file and of Python.
        precision: Of the weights.

    Returns:
        `Path` of the receipt.
    """
    path = Path(path)
    receipt = {
        "file": path.name,
        "kformer": kformer.__version__,
        "precision": precision,
        "bytes": report.bytes,
        "sentences": report.total,
        RECEIPT: report.equal,
        "different_at_a_tie": report.ties,
        "different_at_a_tie_of_the_tokenizer": report.tokenizer_ties,
        "different_otherwise": report.others,
        "bleu": report.bleu,
        "bleu_of_python": python.bleu,
        "bleu_difference": None if report.bleu is None else report.bleu - python.bleu,
        "sentences_per_second": report.sentences_per_second,
        "tokens_per_second": report.tokens_per_second,
    }
    beside = receipt_of(path)
    with publication.writing(beside) as temporary:
        temporary.write_text(json.dumps(receipt, indent=2) + "\n", "utf-8")
    return beside


def receipt_of(path) -> Path:
    """The path of the receipt of the `.tflite` file `path`."""
    return Path(path).with_name(f"{Path(path).name}.json")
