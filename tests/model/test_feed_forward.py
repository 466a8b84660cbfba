import numpy as np
import pytest

from kformer import FeedForward
from support import reference
from support.reference import Model, perturbed, weights_of


def test_it_is_equation_2():
    layer = FeedForward(d_model=7, d_ff=13, name="feed_forward")
    x = np.random.normal(size=(2, 5, 7))
    layer(x)
    perturbed(layer)
    model = Model(weights_of(layer), num_heads=1)
    np.testing.assert_allclose(
        layer(x), reference.feed_forward(x, model, "feed_forward"), atol=1e-5
    )


def test_every_position_is_treated_alike_and_alone():
    layer = FeedForward(d_model=7, d_ff=13)
    x = np.random.normal(size=(2, 5, 7))
    alone = [layer(x[:, i : i + 1])[:, 0] for i in range(5)]
    np.testing.assert_allclose(layer(x), np.stack(alone, axis=1), atol=1e-6)


@pytest.mark.parametrize("sizes", [{"d_model": 0, "d_ff": 3}, {"d_model": 5, "d_ff": 0}])
def test_sizes_must_be_positive(sizes):
    received = ", ".join(f"{name}={value}" for name, value in sizes.items())
    with pytest.raises(ValueError, match=f"Received: {received}"):
        FeedForward(**sizes)
