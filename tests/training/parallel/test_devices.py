"""A recipe takes the same steps on any number of devices, here of eight that JAX simulates."""

import importlib.util

import numpy as np
import pytest

from kformer.training import Recipe
from kformer.training.parallel.devices import check_can_be_split, distribute
from support import toy
from support.processes import printed_by
from support.training import on_devices

needs_jax = pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="JAX is not installed")


def trained(folder, *runs):
    """Returns losses and weights of these runs, as arrays by name; see `on_devices`."""
    folder.mkdir()
    toy.write(folder)
    printed_by(on_devices.__file__, folder, *runs)
    return [dict(np.load(folder / f"{run}.npz")) for run in runs]


@needs_jax
@pytest.mark.prove
def test_devices_share_batches_and_a_model_without_changing_the_result(tmp_path):
    runs = ["2-1", "8-1", "8-2", "8-4"]
    alone, *others = trained(tmp_path / "one", "1-1", *runs)
    assert alone["losses"][1] < alone["losses"][0]
    for run, found in zip(runs, others, strict=True):
        assert {*found} == {*alone}
        for name, value in alone.items():
            if not name.endswith("key/bias"):  # Their gradient is 0 but for rounding.
                np.testing.assert_allclose(
                    found[name], value, atol=1e-5, rtol=1e-5, err_msg=f"{run} {name}"
                )


@needs_jax
@pytest.mark.prove
def test_a_second_run_on_eight_devices_is_equal_to_the_bit(tmp_path):
    (one,), (other,) = (trained(tmp_path / name, "8-1") for name in ("one", "other"))
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value, err_msg=name)


def test_several_devices_need_jax():
    refused = pytest.raises(ValueError, match="tensorflow', devices=2, model_parallel=1")
    with refused, distribute(2):
        pass


def test_a_model_that_devices_share_must_be_divisible_by_their_number():
    recipe = Recipe.named("quick", num_heads=8, d_ff=1024)
    check_can_be_split(recipe, {"vocab_size": 800}, 8)
    with pytest.raises(ValueError, match="model_parallel=3, num_heads=8, d_ff=1024"):
        check_can_be_split(recipe, {"vocab_size": 801}, 3)
