"""Runs an exported SavedModel in Python."""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  Registers the tokenizer's ops, for loading.

from kformer.arguments import check_integer
from kformer.decoding.parallel import batches_by_length, in_parallel
from kformer.decoding.runtime import max_parallel_batches
from kformer.export.saved_model.batch_limits import MAX_TEXTS
from kformer.export.saved_model.report import FILE
from kformer.serving import ServedTranslation
from kformer.serving.rows import (
    NEEDED,
    checked,
    read_best,
    read_vector,
    rows_from_columns,
    warn_of_cut,
)


class ServedTranslator:
    """Runs an exported SavedModel in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.
    """

    def __init__(self, path: str | Path):
        path = newest_version(path)
        try:
            self._model = tf.saved_model.load(str(path))
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise ValueError(
                f"The folder must hold a whole SavedModel. Received: path={str(path)!r} "
                f"({type(error).__name__})."
            ) from error
        signature = self._model.signatures.get("serving_default")
        if signature is None or not {"translation", "truncated"} <= {*signature.structured_outputs}:
            raise ValueError(
                "The SavedModel must be a kformer export, with a signature from `text` to "
                f"`translation`. Received: path={str(path)!r}."
            )
        self.max_batch_size = _max_batch_size(path)
        self.signatures = dict(self._model.signatures)

    def translate(self, texts, batch_size: int = 32, progress=None) -> list[str]:
        """See `kformer.Translator.translate`; the export chose the search."""
        return [best.text for [best] in self._translations(texts, batch_size, progress)]

    def translations(
        self, texts, batch_size: int = 32, progress=None
    ) -> list[list[ServedTranslation]]:
        """As `translate`, but with scores and flags: for each text a list of its best one."""
        return self._translations(texts, batch_size, progress)

    def encode(self, texts, batch_size: int = 32, progress=None) -> np.ndarray:
        """Returns a vector for each text; see `kformer.Translator.encode`."""
        rows = self._answers("encode", read_vector, texts, batch_size, progress)
        warn_of_cut([flags for _, flags in rows], "encoded")
        width = self.signatures["encode"].structured_outputs["vector"].shape[-1]
        return np.array([vector for vector, _ in rows], np.float32).reshape(-1, width)

    def _translations(self, texts, batch_size, progress):
        found = self._answers("serving_default", read_best, texts, batch_size, progress)
        warn_of_cut([best.flags for [best] in found], "translated", stacklevel=4)
        return found

    def _answers(self, signature, read, texts, batch_size, progress):
        """Returns `read` of each row of a signature's outputs."""
        check_integer("batch_size", batch_size, least=1)
        texts = checked({"texts": texts})["texts"]
        answers = [None] * len(texts)

        def answered(batch):
            text = tf.constant([texts[i] for i in batch], tf.string)
            outputs = self.signatures[signature](text=text)
            outputs = {name: as_lists(tensor) for name, tensor in outputs.items()}
            rows = rows_from_columns(outputs, len(batch), NEEDED[signature])
            return [read(row) for row in rows]

        batch_size = min(batch_size, self.max_batch_size)
        batches = list(batches_by_length([len(text) for text in texts], batch_size))
        outputs = in_parallel(answered, batches, max_parallel_batches())
        for batch, found in zip(batches, outputs, strict=True):
            for i, answer in zip(batch, found, strict=True):
                answers[i] = answer
            if progress:
                progress(len(batch))
        return answers


def as_lists(tensor):
    """Returns a tensor as nested lists, with decoded strings."""
    if tensor.dtype != tf.string:
        return tensor.numpy().tolist()
    return [
        row.decode("utf-8") if isinstance(row, bytes) else [text.decode("utf-8") for text in row]
        for row in tensor.numpy().tolist()
    ]


def _max_batch_size(version):
    """Returns the largest batch size in the version's report; older reports have none."""
    try:
        return max(json.loads((version / FILE).read_text("utf-8"))["batch_sizes"])
    except (OSError, ValueError, KeyError, TypeError):
        return MAX_TEXTS


def newest_version(path) -> Path:
    """Returns the SavedModel folder at `path`: itself, or its subfolder of the highest number.

    Raises:
        ValueError: There is none.
    """
    path = Path(path)
    if (path / "saved_model.pb").is_file():
        return path
    versions = versions_in(path)
    if not versions:
        raise ValueError(
            "A SavedModel folder holds saved_model.pb, or numbered versions. "
            f"Received: path={str(path)!r}."
        )
    return path / str(max(versions))


def versions_in(folder) -> list[int]:
    """Returns the numbers of the versions in the folder of all versions, if there is one."""
    if not folder.is_dir():
        return []
    return [int(child.name) for child in folder.iterdir() if child.name.isdecimal()]
