"""Models without training: as fast as any other, whatever they say."""

from dataclasses import asdict

import keras
import numpy as np

from benchmarks.decoding.workloads import FIRST_PIECE
from benchmarks.sizes import VOCAB_SIZE, ModelSize
from kformer import Transformer

_SHARE = 0.4  # Of a sub-layer's output in the sum: more, and every sentence becomes one word.


def random_transformer(size: ModelSize, **settings) -> Transformer:
    """Returns the same model for the same size; it never ends, nor says the same to all.

    The vectors of padding, unknown, start and end are zeros: their logits are 0, and among
    thousands of others never the best. The signs of the last norm are mixed, because the output
    resembles the word that was read, and the model would repeat it for ever. Positions and norms
    are those of Marian, which computes no others.

    Args:
        size: Of the model.
        settings: Other arguments of `kformer.Transformer`, or instead of those of the size.
    """
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    usual = {
        "vocab_size": VOCAB_SIZE,
        "dropout": 0.0,
        "max_wavelength": 10_000 ** (size.d_model / (size.d_model - 2)),
        "norm_epsilon": 1e-6,
    }
    transformer = Transformer(**{**usual, **asdict(size), **settings})
    for weight in transformer.weights:
        if weight.name == "table":
            table = weight.numpy()
            table[:FIRST_PIECE] = 0.0
            weight.assign(table)
        elif weight.path.endswith(("output/kernel", "outer/kernel")):
            weight.assign(weight * _SHARE)
        elif weight.name in ("bias", "beta", "gamma"):  # Else zeros and ones, easily mistaken.
            weight.assign_add(random.normal(0.0, 0.02, weight.shape))
    decoder = transformer.decoder
    last = decoder.norm or decoder.layers[-1].feed_forward_residual.norm
    last.gamma.assign(last.gamma * random.choice([-1.0, 1.0], last.gamma.shape))
    return transformer
