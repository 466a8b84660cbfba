"""Recipes: all numbers of a training run, in TOML files beside this one."""

import dataclasses
import tomllib
from pathlib import Path

_FOLDER = Path(__file__).parent / "recipes"
_POSITIVE = ("vocab_size", "num_layers", "d_model", "num_heads", "d_ff", "epochs", "warmup_steps")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """All numbers of a training run. Their values stand in `recipes/NAME.toml`, nowhere else.

    Attributes:
        vocab_size: Ids of the joint vocabulary.
        num_layers, d_model, num_heads, d_ff, dropout, norm_first: See `kformer.Transformer`.
        epochs: Passes over the data.
        tokens_per_batch, max_length: See `translation_dataset`.
        byte_spelling: See `translation_dataset`; for training text alone.
        warmup_steps: See `WarmupSchedule`.
        ema_momentum: Of the moving average of the weights, which is what is validated and kept; 0
            keeps the weights themselves.
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
    byte_spelling: float
    warmup_steps: int
    ema_momentum: float
    label_smoothing: float
    seed: int

    def __post_init__(self):
        for name in _POSITIVE:
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"`{name}` must be positive. Received: {name}={value}.")
        for name in ("dropout", "label_smoothing", "byte_spelling", "ema_momentum"):
            if not 0 <= (value := getattr(self, name)) < 1:
                raise ValueError(f"`{name}` must be in [0, 1). Received: {name}={value}.")
        if self.d_model % 2 or self.d_model % self.num_heads:
            raise ValueError(
                "`d_model` must be even, and a multiple of `num_heads`. "
                f"Received: d_model={self.d_model}, num_heads={self.num_heads}."
            )
        if not 2 <= self.max_length <= self.tokens_per_batch:
            raise ValueError(
                "`max_length` must leave room for a piece and the end id, and fit into "
                f"`tokens_per_batch`. Received: max_length={self.max_length}, "
                f"tokens_per_batch={self.tokens_per_batch}."
            )
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"`seed` must be in [0, 2^32). Received: seed={self.seed}.")

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
