"""The optional arguments of a training run."""

import dataclasses
from collections.abc import Collection
from pathlib import Path

from kformer.training.data.corpus_weights import check_weights
from kformer.training.recipes.recipe import Recipe


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The optional arguments that `kformer.training.train` documents."""

    weights: list[float] | None = None
    temperature: float | None = None
    warm_start: str | Path | None = None
    new_vocabulary: bool = False
    tokenizer: str | Path | None = None
    target_tokenizer: str | Path | None = None
    exact_sizes: Collection[str] = ()
    overwrite: bool = False
    restart: bool = False

    @property
    def vocabulary(self) -> str | Path | None:
        """Path of the file with the vocabularies; None if they are learned from the text."""
        if self.tokenizer is None and not self.new_vocabulary:
            return self.warm_start
        return self.tokenizer

    def check(self, recipe: Recipe, corpora: int):
        """Raises ValueError if the options contradict each other, or a run of `corpora` files."""
        if self.new_vocabulary and self.warm_start is None:
            raise ValueError(
                "`new_vocabulary` needs `warm_start`; other runs learn a vocabulary in any case. "
                f"Received: new_vocabulary=True, warm_start={self.warm_start}."
            )
        if self.tokenizer is None and self.target_tokenizer is not None:
            raise ValueError(
                "A tokenizer of the target needs one of the source beside it. "
                f"Received: tokenizer=None, target_tokenizer={str(self.target_tokenizer)!r}."
            )
        if self.vocabulary is not None and (self.new_vocabulary or recipe.target_vocab_size):
            raise ValueError(
                "With an existing vocabulary, none is learned. Received: tokenizer="
                f"{self.tokenizer and str(self.tokenizer)!r}, "
                f"new_vocabulary={self.new_vocabulary}, "
                f"target_vocab_size={recipe.target_vocab_size}."
            )
        check_weights(corpora, self.weights, self.temperature)
