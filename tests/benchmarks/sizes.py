"""The models that are measured."""

from dataclasses import dataclass

VOCAB_SIZE = 8000


@dataclass(frozen=True)
class ModelSize:
    """A model; see `kformer.Transformer`."""

    num_layers: int
    d_model: int
    d_ff: int
    num_heads: int


MODEL_SIZES = {"tiny": ModelSize(4, 128, 256, 4), "base": ModelSize(6, 512, 2048, 8)}
