"""The models and batches that are measured, and the work in a step of theirs.

Axes: B batch, S source length, T target length, D d_model, V vocabulary.
"""

from dataclasses import astuple, dataclass

from benchmarks.sizes import MODEL_SIZES, VOCAB_SIZE, ModelSize

DROPOUT = 0.1
LABEL_SMOOTHING = 0.1
MAX_LENGTH = 128  # Of a sentence of real text.
DTYPES = ("float32", "bfloat16")


@dataclass(frozen=True)
class Size(ModelSize):
    """A model, the batch that it is trained on, and how many batches make a round.

    Attributes:
        batch, length: Shape of a batch of random ids; of real text, a batch has as many ids.
        steps: Batches in a round.
    """

    batch: int
    length: int
    steps: int


SIZES = {
    "tiny": Size(*astuple(MODEL_SIZES["tiny"]), batch=128, length=24, steps=10),
    "base": Size(*astuple(MODEL_SIZES["base"]), batch=32, length=24, steps=5),
}


def step_flops(size: Size, batch: int, source: int, target: int) -> int:
    """Counts the floating-point operations in a step's matrix products.

    A multiply-add is two; the backward pass has two products for each of the forward pass. So that
    is 6 x the multiply-adds of a forward pass, of all positions, padding too: what is computed, not
    what is useful. Softmax, dropout, normalisation and optimizer are not in it.

    Args:
        batch, source, target: B, S and T of the batch.
    """
    d_model = size.d_model
    feed_forward = 2 * d_model * size.d_ff  # For each position, like the next.
    self_attention = 4 * d_model**2  # Query, key, value, output.
    encoder = source * (self_attention + 2 * source * d_model + feed_forward)
    decoder = target * (self_attention + 2 * target * d_model + feed_forward)
    cross_attention = 2 * (target + source) * d_model**2 + 2 * target * source * d_model
    logits = target * d_model * VOCAB_SIZE
    return 6 * batch * (size.num_layers * (encoder + decoder + cross_attention) + logits)
