"""The base class that runs an exported SavedModel of any kind in Python."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  Registers the tokenizer's ops, for loading.

from kformer.arguments import check_integer, one_or_many
from kformer.backend import check_process
from kformer.decoding.runtime import each_batch
from kformer.export.saved_model.serving_files import newest_version, read_report
from kformer.export.saved_model.serving_signatures import MAX_TEXTS
from kformer.inference.facts import ModelFacts
from kformer.serving.request_rows import checked, read_vector, rows_from_columns, warn_of_cut
from kformer.threads import batches_by_length


class ServedModel:
    """Runs an exported SavedModel in Python, through its signatures; base class.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        report: dict, the export report.
        max_batch_size: Maximum number of texts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.
    """

    # Of the signature `serving_default`, by which the kind of model is recognized.
    _outputs: tuple[str, ...] = ()

    def __init__(self, path: str | Path):
        check_process()
        path = newest_version(path)
        try:
            self._model = tf.saved_model.load(str(path))
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise ValueError(
                f"The folder must hold a whole SavedModel. Received: path={str(path)!r} "
                f"({type(error).__name__})."
            ) from error
        signature = self._model.signatures.get("serving_default")
        if signature is None or not {*self._outputs} <= {*signature.structured_outputs}:
            raise ValueError(
                "The SavedModel must be a kformer export, with a signature from `text` to "
                f"`{self._outputs[0]}`. Received: path={str(path)!r}."
            )
        self.report = read_report(path)
        self.max_batch_size = max(self.report.get("batch_sizes", [MAX_TEXTS]))
        self.signatures = dict(self._model.signatures)

    @functools.cached_property
    def facts(self) -> ModelFacts:
        """The facts about the model, as every saved form has them."""
        return ModelFacts(**self._own_facts())

    def _own_facts(self):
        return {"about": self.report, "signatures": self.signatures}

    @one_or_many
    def encode(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> np.ndarray:
        """Returns a vector for each text, like `kformer.Translator.encode`."""
        rows = self._answers("encode", read_vector, texts, batch_size, progress)
        warn_of_cut([flags for _, flags in rows], "encoded")
        width = self.signatures["encode"].structured_outputs["vector"].shape[-1]
        return np.array([vector for vector, _ in rows], np.float32).reshape(-1, width)

    def _inputs(self, texts) -> dict[str, list[str]]:
        """Returns the inputs of a signature that reads texts, by name."""
        return {"text": texts}

    def _answers(self, signature, read, texts, batch_size, progress, targets=None):
        """Returns `read` of each row of a signature's outputs."""
        check_integer("batch_size", batch_size, least=1)
        texts = checked({"texts": texts})["texts"]
        answers = [None] * len(texts)

        def answered(batch):
            inputs = self._inputs([texts[i] for i in batch])
            if targets is not None:
                inputs |= {"source": inputs.pop("text"), "target": [targets[i] for i in batch]}
            inputs = {name: tf.constant(value, tf.string) for name, value in inputs.items()}
            outputs = self.signatures[signature](**inputs)
            outputs = {name: as_lists(tensor) for name, tensor in outputs.items()}
            rows = rows_from_columns(outputs, len(batch), signature)
            return [read(row) for row in rows]

        batch_size = min(batch_size, self.max_batch_size)
        batches = list(batches_by_length([len(text) for text in texts], batch_size))
        outputs = each_batch(answered, batches)
        for batch, batch_answers in zip(batches, outputs, strict=True):
            for i, answer in zip(batch, batch_answers, strict=True):
                answers[i] = answer
            if progress:
                progress(len(batch))
        return answers


def as_lists(tensor: tf.Tensor):
    """Returns a tensor as nested lists, with decoded strings."""
    if tensor.dtype != tf.string:
        return tensor.numpy().tolist()
    return [
        row.decode("utf-8") if isinstance(row, bytes) else [text.decode("utf-8") for text in row]
        for row in tensor.numpy().tolist()
    ]
