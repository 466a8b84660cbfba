"""The settings beside a SavedModel, written without a model."""

from kformer.export.saved_model.graph_search import BATCH_CLASSES
from kformer.export.saved_model.serving_files import write_serving_files
from kformer.export.saved_model.warmup import BATCH_SIZES
from kformer.files import Publication

SETTINGS = {
    "version": 3,
    "kind": "translator",
    "xla": False,
    "max_source_length": 256,
    "max_target_length": 306,
    "max_texts": 1024,
    "max_batch_tokens": 64 * (256 + 306),
    "max_batch_characters": 64 * 100_000,
    "batch_sizes": BATCH_SIZES,
    "bytes": 10_000_000,
}
XLA_SETTINGS = {**SETTINGS, "xla": True, "batch_sizes": BATCH_CLASSES}


def write_files(folder, settings, answers):
    """Writes the settings of a version into a folder."""
    with Publication() as publication:
        write_serving_files(publication, folder, settings, "It translates.", answers)
