"""Runs a language model's SavedModel in Python."""

from kformer.export.saved_model.served_model import ServedModel
from kformer.serving.answers import ServedGeneration
from kformer.serving.rows import read_generation
from kformer.text.prompts import check_prompts


class ServedLanguageModel(ServedModel):
    """Runs the SavedModel of a language model in Python, through its signatures.

    Args:
        path: The folder of a version, or of all versions, of which it loads the newest.

    Attributes:
        max_batch_size: Maximum number of prompts per call of a signature.
        signatures: dict of the model's signatures by name.

    Raises:
        ValueError: The folder holds no such model.
    """

    _outputs = ("generation", "score")

    def generate(self, prompts, batch_size: int = 32, progress=None) -> list[str]:
        """See `kformer.LanguageModel.generate`; the export chose the search."""
        return [best.text for [best] in self.generations(prompts, batch_size, progress)]

    def generations(
        self, prompts, batch_size: int = 32, progress=None
    ) -> list[list[ServedGeneration]]:
        """As `generate`, but with scores and flags: for each prompt a list of its best one."""
        found = self._answers("generate", read_generation, prompts, batch_size, progress)
        check_prompts(best.flags for [best] in found)
        return found
