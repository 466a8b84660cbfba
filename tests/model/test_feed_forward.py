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


@pytest.mark.parametrize("name", ["d_model", "d_ff"])
def test_sizes_must_be_positive(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1. Received: {name}=0"):
        FeedForward(**{"d_model": 5, "d_ff": 3, name: 0})
