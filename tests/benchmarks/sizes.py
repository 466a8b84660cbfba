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


@dataclass(frozen=True)
class StudentSize(ModelSize):
    """The size of a recipe for students; see `Transformer`."""

    num_decoder_layers: int
    norm_first: bool = False
    decoder_cell: str = "attention"
    vocab_size: int = VOCAB_SIZE


MODEL_SIZES = {"tiny": ModelSize(4, 128, 256, 4), "base": ModelSize(6, 512, 2048, 8)}
PRETRAINED_SIZES = {  # Those of opus-mt_tiny_*, opus-mt-* and opus-mt-tc-big-*.
    "opus-mt-tiny": PretrainedSize(6, 256, 1536, 8, 2, "relu", 32001),
    "opus-mt": PretrainedSize(6, 512, 2048, 8, 6, "swish", 58101),
    "opus-mt-big": PretrainedSize(6, 1024, 4096, 16, 6, "relu", 58101),
}
STUDENT_SIZES = {  # Those of recipes; Firefox's with attention, too.
    "student-tiny": StudentSize(6, 128, 256, 4, 1, norm_first=True),
    "student-tiny-ssru": StudentSize(6, 128, 256, 4, 1, norm_first=True, decoder_cell="ssru"),
    "firefox-tiny": StudentSize(6, 256, 1536, 8, 2, decoder_cell="ssru", vocab_size=32000),
    "firefox-base-memory": StudentSize(6, 384, 1536, 8, 4, decoder_cell="ssru", vocab_size=32000),
    "firefox-tiny-attention": StudentSize(6, 256, 1536, 8, 2, vocab_size=32000),
}
SIZES = MODEL_SIZES | PRETRAINED_SIZES | STUDENT_SIZES
