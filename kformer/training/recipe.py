"""Recipes: all numbers of a training run, in TOML files beside this one."""

import dataclasses
import tomllib
from pathlib import Path

_FOLDER = Path(__file__).parent / "recipes"


@dataclasses.dataclass(frozen=True)
class Recipe:
    """All numbers of a training run. Their values stand in `recipes/NAME.toml`, nowhere else.

    Attributes:
        vocab_size: Ids of the joint vocabulary.
        num_layers, d_model, num_heads, d_ff, dropout, norm_first: See `kformer.Transformer`.
        epochs: Passes over the data.
        tokens_per_batch, max_length: See `translation_dataset`.
        warmup_steps: See `WarmupSchedule`.
        label_smoothing: See `MaskedCrossEntropy`.
        seed: Of the weights, the dropout and the shuffling.
    """

    vocab_size: int
    num_layers: int
    d_model: int
    num_heads: int
    d_ff: int
    dropout: float
    norm_first: bool
    epochs: int
    tokens_per_batch: int
    max_length: int
    warmup_steps: int
    label_smoothing: float
    seed: int

    def __post_init__(self):
        if self.epochs < 1:
            raise ValueError(f"`epochs` must be positive. Received: epochs={self.epochs}.")

    @classmethod
    def named(cls, name: str, **changes):
        """Reads a recipe by its name, with `changes` to some of its numbers."""
        path = _FOLDER / f"{name}.toml"
        if name not in recipe_names():
            raise ValueError(
                f"`recipe` must be one of {', '.join(recipe_names())}. Received: recipe={name!r}."
            )
        return cls(**{**tomllib.loads(path.read_text("utf-8")), **changes})


def recipe_names() -> list[str]:
    """Returns the names of the recipes in the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))
