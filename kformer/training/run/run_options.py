"""The optional arguments of a training run."""

import dataclasses
from collections.abc import Collection
from pathlib import Path

from kformer.training.recipes.recipe import OF_TRANSLATORS, Recipe


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The optional arguments of every kind of run; `kformer.training.train` documents them."""

    warm_start: str | Path | None = None
    new_vocabulary: bool = False
    tokenizer: str | Path | None = None
    exact_sizes: Collection[str] = ()
    overwrite: bool = False
    restart: bool = False

    @property
    def vocabulary(self) -> str | Path | None:
        """Path of the file with the vocabularies; None if they are learned from the text."""
        if self.tokenizer is None and not self.new_vocabulary:
            return self.warm_start
        return self.tokenizer

    def recorded(self) -> dict:
        """Returns the options for the run config, with files as `pathlib.Path`."""
        return {
            "new_vocabulary": self.new_vocabulary,
            "warm_start": self.warm_start and Path(self.warm_start),
            "tokenizer": self.tokenizer and Path(self.tokenizer),
        }

    def check(self, recipe: Recipe):
        """Raises ValueError if the options contradict each other or the recipe."""
        if self.new_vocabulary and self.warm_start is None:
            raise ValueError(
                "`new_vocabulary` needs `warm_start`; other runs learn a vocabulary in any case. "
                f"Received: new_vocabulary=True, warm_start={self.warm_start}."
            )
        if self.vocabulary is not None and (self.new_vocabulary or recipe.target_vocab_size):
            raise ValueError(
                "With an existing vocabulary, none is learned. Received: tokenizer="
                f"{self.tokenizer and str(self.tokenizer)!r}, "
                f"new_vocabulary={self.new_vocabulary}, "
                f"target_vocab_size={recipe.target_vocab_size}."
            )


def check_no_target(recipe: Recipe, model: str):
    """Raises ValueError if the recipe has numbers of a target, which a `model` has not."""
    received = {name: getattr(recipe, name) for name in OF_TRANSLATORS}
    wrong = [f"{name}={value}" for name, value in received.items() if value != OF_TRANSLATORS[name]]
    if wrong:
        without = (f"{name}={value}" for name, value in OF_TRANSLATORS.items())
        raise ValueError(
            f"A {model} has no target: its recipe has {', '.join(without)}. "
            f"Received: {', '.join(wrong)}."
        )
