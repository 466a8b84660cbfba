"""Recipes: all numbers of a training run, in TOML files beside this one."""

import dataclasses
import math
import tomllib
from pathlib import Path

_FOLDER = Path(__file__).parent
_POSITIVE = (
    *("vocab_size", "num_layers", "d_model", "num_heads", "d_ff", "epochs", "warmup_steps"),
    *("learning_rate_scale", "gradient_accumulation"),
)
_NOT_NEGATIVE = ("target_vocab_size", "patience", "validate_every", "keep_best", "average")
_SHARES = ("dropout", "label_smoothing", "piece_splitting", "byte_spelling", "ema_momentum")
SIZES = ("num_layers", "d_model", "num_heads", "d_ff", "norm_first")  # Of the model.
PRECISIONS = ("float32", "bfloat16")
MONITORS = ("loss", "bleu")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """All numbers of a training run. Their values stand in `recipes/NAME.toml`, nowhere else.

    Attributes:
        vocab_size: Ids of the joint vocabulary, or of that of the source.
        target_vocab_size: Ids of a vocabulary of the target's own; 0 for a joint one.
        num_layers, d_model, num_heads, d_ff, dropout, norm_first: See `kformer.Transformer`.
        epochs: Passes over the data.
        tokens_per_batch, max_length: See `translation_dataset`.
        max_length_ratio: The same; 0 for any ratio.
        piece_splitting, byte_spelling: See `translation_dataset`; for training text alone.
        warmup_steps: See `WarmupSchedule`, as for the next.
        learning_rate_scale: Times the rate of the paper, whose peak is
            (d_model * warmup_steps)^-0.5.
        gradient_accumulation: Batches whose mean gradient makes one step.
        ema_momentum: Of the moving average of the weights, which is what is validated and kept; 0
            keeps the weights themselves.
        label_smoothing: See `MaskedCrossEntropy`.
        precision: "float32", or "bfloat16" for activations of 16 bits beside weights of 32. What
            is kept is float32.
        monitor: What the best epoch is chosen by: "loss" or "bleu", of the validation text.
        patience: Validations in a row without a best one that end training; 0 for never. There is
            one an epoch, unless `validate_every` says more.
        validate_every: Steps from one validation within an epoch to the next; 0 for none but that
            at its end. After each the history has a row, and the run a checkpoint.
        keep_best: How many of the best models are kept, each in its file, and the last one; 0 for
            `translator.keras` alone, and no other.
        average: How many of the best models are averaged at the end; 0 for none.
        seed: Of the weights, the dropout and the shuffling.
    """

    vocab_size: int
    target_vocab_size: int
    num_layers: int
    d_model: int
    num_heads: int
    d_ff: int
    dropout: float
    norm_first: bool
    epochs: int
    tokens_per_batch: int
    max_length: int
    max_length_ratio: float
    piece_splitting: float
    byte_spelling: float
    warmup_steps: int
    learning_rate_scale: float
    gradient_accumulation: int
    ema_momentum: float
    label_smoothing: float
    precision: str
    monitor: str
    patience: int
    validate_every: int
    keep_best: int
    average: int
    seed: int

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"`{field.name}` must be finite. Received: {field.name}={value}.")
        for name in _POSITIVE:
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"`{name}` must be positive. Received: {name}={value}.")
        for name in _SHARES:
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
        if self.max_length_ratio and not self.max_length_ratio >= 1:
            raise ValueError(
                "`max_length_ratio` is that of the longer side to the shorter, so at least 1; or 0 "
                f"for any. Received: max_length_ratio={self.max_length_ratio}."
            )
        for name, known in (("precision", PRECISIONS), ("monitor", MONITORS)):
            if (value := getattr(self, name)) not in known:
                raise ValueError(
                    f"`{name}` must be one of {', '.join(known)}. Received: {name}={value!r}."
                )
        for name in _NOT_NEGATIVE:
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"`{name}` must not be negative. Received: {name}={value}.")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"`seed` must be in [0, 2^32). Received: seed={self.seed}.")

    def check_validation(self, files):
        """Raises ValueError where the recipe needs validation text, and `files` of it are none."""
        if (self.patience or self.monitor != "loss") and not files:
            raise ValueError(
                "Early stopping and `monitor`='bleu' need validation text. "
                f"Received: patience={self.patience}, monitor={self.monitor!r} without any."
            )

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
