"""Runs a classifier's SavedModel in Python."""

import functools

import numpy as np

from kformer.export.saved_model.served_model import ServedModel
from kformer.serving.rows import read_class, warn_of_cut
from kformer.text.labels import Predictions


class ServedClassifier(ServedModel):
    """Runs the SavedModel of a classifier in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.
    """

    _outputs = ("label", "probabilities", "labels")

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the probabilities."""
        [answer] = self._answers("classify", read_class, [""], 1, None)
        return tuple(answer.probabilities)

    def predict(self, texts, batch_size: int = 32, progress=None) -> Predictions:
        """See `kformer.TextClassifier.predict`."""
        found = self._answers("classify", read_class, texts, batch_size, progress)
        warn_of_cut([answer.flags for answer in found], "classified")
        rows = [[*answer.probabilities.values()] for answer in found]
        classes = self.signatures["classify"].structured_outputs["probabilities"].shape[-1]
        probabilities = np.array(rows, np.float32).reshape(-1, classes)
        return Predictions([answer.label for answer in found], probabilities)
