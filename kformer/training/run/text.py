"""The text of a training run: files to train on and to validate with, and what is made of them."""

from pathlib import Path

from kformer.training.data.dataset import translation_dataset
from kformer.training.data.preflight import check_corpus
from kformer.training.data.text_files import as_list, read_lines
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.recipe import Recipe


class TextOfRun:
    """Parallel text.

    Args:
        source, target: A path or a list of paths.
        valid_source, valid_target: The same, to validate with; None for no validation.
        weights, temperature: How several files are mixed; see `translation_dataset`.
    """

    def __init__(
        self,
        source: str | Path | list,
        target: str | Path | list,
        valid_source=None,
        valid_target=None,
        weights: list[float] | None = None,
        temperature: float | None = None,
    ):
        self._training = as_list(source), as_list(target)
        self._validation = as_list(valid_source or []), as_list(valid_target or [])
        self._mixture = {"weights": weights, "temperature": temperature}

    def report(
        self, recipe: Recipe, tokenizer, target_tokenizer=None, vocabulary: str = "learned"
    ) -> str:
        """Says in plain words what is in the text, and what a run will take.

        `vocabulary` is as for `check_corpus`.
        """
        found = check_corpus(
            *self._training,
            tokenizer,
            target_tokenizer,
            valid_source=self._validation[0],
            valid_target=self._validation[1],
            vocabulary=vocabulary,
            **self._mixture,
            **_sizes(recipe),
        )
        cost = training_cost(recipe, found.source_tokens, found.target_tokens)
        return "\n".join([str(found), str(cost), *(f"Warning: {one}" for one in cost.warnings())])

    def batches(self, recipe: Recipe, tokenizer, epoch, target_tokenizer=None):
        """Returns the data sets of training and, if there is text for it, of validation.

        `epoch` is the variable of `translation_dataset`.
        """
        tokenizers, sizes = (tokenizer, target_tokenizer), _sizes(recipe)
        training = translation_dataset(
            *self._training,
            *tokenizers,
            piece_splitting=recipe.piece_splitting,
            byte_spelling=recipe.byte_spelling,
            seed=recipe.seed,
            epoch=epoch,
            **self._mixture,
            **sizes,
        )
        if not self._validation[0]:
            return training, None
        return training, translation_dataset(*self._validation, *tokenizers, shuffle=False, **sizes)

    def validation_lines(self):
        """Returns the lines to validate with: a list of sources, and one of targets."""
        return [[line for file in files for line in read_lines(file)] for files in self._validation]


def _sizes(recipe):
    return {
        "tokens_per_batch": recipe.tokens_per_batch,
        "max_length": recipe.max_length,
        "max_length_ratio": recipe.max_length_ratio or None,
    }
