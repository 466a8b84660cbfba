"""Training under `tf.distribute.MirroredStrategy` against training on one device."""

import numpy as np
import pytest
import tensorflow as tf

from support.processes import printed_by
from support.training import on_replicas

pytestmark = pytest.mark.prove


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What came out on one device and on two replicas, by name."""
    path = tmp_path_factory.mktemp("replicas") / "two.npz"
    # In a process of its own, since devices are divided before TensorFlow starts.
    printed_by(on_replicas.__file__, path)
    return on_replicas.train(tf.distribute.get_strategy()), dict(np.load(path))


@pytest.mark.parametrize("kind", ["logs", "weight", "average", "judged"])
def test_two_replicas_learn_what_one_device_learns(trained, kind):
    one, two = trained
    names = [name for name in one if name.split("/")[0] == kind and "key/bias" not in name]
    # (The bias of the keys has no gradient but rounding, of which Adam makes steps.)
    assert names and two.keys() - one.keys() == {"message"}
    for name in names:
        np.testing.assert_allclose(two[name], one[name], rtol=1e-5, atol=1e-5, err_msg=name)


def test_gradient_accumulation_on_replicas_is_refused(trained):
    message = str(trained[1]["message"])
    assert message.endswith("Received: gradient_accumulation_steps=2, 2 replicas.")
