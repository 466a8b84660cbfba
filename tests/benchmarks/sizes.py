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


@dataclass(frozen=True)
class PretrainedSize(ModelSize):
    """The size of published models, whose stacks and vocabularies differ; see `Transformer`."""

    num_decoder_layers: int
    activation: str
    vocab_size: int
    output_bias: bool = True


MODEL_SIZES = {"tiny": ModelSize(4, 128, 256, 4), "base": ModelSize(6, 512, 2048, 8)}
PRETRAINED_SIZES = {  # Those of opus-mt_tiny_*, opus-mt-* and opus-mt-tc-big-*.
    "opus-mt-tiny": PretrainedSize(6, 256, 1536, 8, 2, "relu", 32001),
    "opus-mt": PretrainedSize(6, 512, 2048, 8, 6, "swish", 58101),
    "opus-mt-big": PretrainedSize(6, 1024, 4096, 16, 6, "relu", 58101),
}
