"""Runs a `.tflite` language model with NumPy and ai-edge-litert, without TensorFlow."""

import numpy as np

from kformer.inference.any_language_model import AnyLanguageModel
from kformer.inference.degenerate import TOO_LONG, check_prompts, degenerate_flags
from kformer.inference.results import Generation
from kformer.kinds import LANGUAGE_MODEL
from kformer.pocket.pocket_model import SOURCE_CUT, PocketModel
from kformer.pocket.pocket_text import text_in


class PocketLanguageModel(AnyLanguageModel, PocketModel):
    """A `.tflite` language model; any number of threads may share one.

    Args:
        path: The `.tflite` file, as `kformer.export.export_tflite` writes it.
        workers: Maximum number of prompts or batches continued at the same time, each on one
            core, by all threads together; by default the number of cores. One call uses several
            only if it has many prompts. Large files run in processes, others in threads.

    Attributes:
        manifest: dict, the metadata of the file.

    Raises:
        FileNotFoundError: The file is missing.
        TypeError: `workers` is no integer.
        ValueError: `workers` is under 1; or the file is malformed, of another kind or of a newer
            format.

    Examples:
        >>> import kformer
        >>> from kformer.export import export_tflite
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 32}
        >>> decoder = kformer.TransformerDecoder(tokenizer.vocab_size, **sizes)
        >>> model = kformer.LanguageModel(tokenizer, decoder, max_length=16)
        >>> file = export_tflite(model, "text.tflite")
        >>> kformer.pocket.PocketLanguageModel(file).generate("A dog").startswith("A dog")
        True
    """

    kind = LANGUAGE_MODEL
    signature = "generate"
    output = "generation"

    def _continued(self, prompts, request, details):
        return [[best] for best in self._answers(prompts, "continued", request.progress)]

    def _check_answers(self, answers):
        check_prompts(answer.flags for answer in answers)

    def _read_text(self, outputs, over):
        source = outputs["source_ids"]
        row = source[source != self.manifest["padding_id"]].tolist()
        if over or int(outputs["truncated"][0]) & SOURCE_CUT:
            return Generation("", 0.0, (TOO_LONG,))
        _, flags = self._ended(row, outputs["ids"])
        score = float(outputs["score"].ravel()[0])
        return Generation(text_in(outputs["generation"]), score, flags)

    def _read_row(self, worker, outputs, source, cut, length):
        if cut:
            return Generation("", 0.0, (TOO_LONG,)), False
        ids, flags = self._ended(source, outputs["ids"])
        text, end_missing = self._text.decode(worker, np.array([*source[:-1], *ids], np.int32))
        return Generation(text, float(outputs["score"]), flags), end_missing

    def _ended(self, source, ids):
        """Returns the `ids` that continue `source`, without the end id, and their flags."""
        ids = ids[: self.manifest["max_target_length"] + 1 - len(source)].tolist()
        limit: tuple[str, ...] = ("length limit",)
        if self.manifest["end_id"] in ids:
            ids, limit = ids[: ids.index(self.manifest["end_id"])], ()
        return ids, (*limit, *(flag for flag in degenerate_flags((), ids) if flag == "loop"))
