"""Training on JAX takes the same steps as on TensorFlow, and leaves the same files."""

import importlib.util
import json
import re

import keras
import numpy as np
import pytest

import kformer
from kformer.training import Recipe, train
from kformer.training.kinds.translation_learner import compiled_transformer
from support import toy
from support.disturbances import PowerCut
from support.processes import printed_by
from support.training import on_jax
from support.training.same_run import read

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="JAX is not installed")
SCRIPT = on_jax.__file__


@pytest.mark.prove
def test_a_step_has_the_loss_and_the_gradients_of_one_on_tensorflow(tmp_path):
    rng = np.random.RandomState(0)
    ids = rng.randint(4, 50, (7, 12)).astype("int32")
    ids[np.arange(12) >= rng.randint(2, 13, 7)[:, None]] = 0
    ids[-1] = 0  # A row of padding, as fixed shapes have.
    model = compiled_transformer(
        Recipe.named("quick", vocab_size=50, d_model=16, d_ff=24, num_heads=2)
    )
    model((ids, ids))
    weights = model.get_weights()
    file = tmp_path / "step.npz"
    np.savez(file, ids, *weights)
    printed_by(SCRIPT, "step", file)
    with np.load(file) as found:
        on_tensorflow = on_jax.step(weights, ids)
        assert {*found.files} == {*on_tensorflow}
        for name, value in on_tensorflow.items():
            np.testing.assert_allclose(found[name], value, atol=1e-5, err_msg=name)


@pytest.mark.prove
def test_a_run_of_another_backend_is_not_resumed(tiny_recipe, parallel_text, tmp_path):
    text = [parallel_text[f"train.{name}"] for name in ("de", "en")]
    with pytest.raises(ZeroDivisionError):
        train(tiny_recipe, *text, tmp_path, callbacks=[PowerCut(1)])
    config = read(tmp_path / "run.json")
    assert config["backend"] == "tensorflow"
    (tmp_path / "run.json").write_text(json.dumps({**config, "backend": "jax"}), "utf-8")
    with pytest.raises(ValueError, match="backend='tensorflow' instead of 'jax'"):
        train(tiny_recipe, *text, tmp_path)


@pytest.mark.prove
def test_each_step_is_compiled_once_for_each_shape_and_a_second_start_reads_it(tmp_path):
    printed = printed_by(SCRIPT, "start twice", tmp_path)
    assert re.search(r"^Resuming in epoch 2, after batch 8 of", printed, re.MULTILINE)
    (shapes,) = re.findall(r"^Batches have (\d) shapes, each compiled once", printed, re.MULTILINE)
    ahead = f"Compiling the training step for {shapes} shapes of batches, and validation for 1."
    assert printed.count(ahead) == 2
    (train, test, _, *files), (*again, read, kept, written) = (
        json.loads(line) for line in re.findall("^compilations: (.*)$", printed, re.MULTILINE)
    )
    assert train == int(shapes) > 1 and test == 1 and files == [train, train]
    assert again == [train, test] and read >= train and (kept, written) == (train, 0)


@pytest.mark.prove
def test_a_run_resumes_to_the_bit_and_translates_on_tensorflow_as_on_jax(tmp_path):
    printed = printed_by(SCRIPT, "run", tmp_path)
    assert re.search(r"^Stopped in epoch 2, after batch 8 of", printed, re.MULTILINE)
    found = re.findall("^translation: (.*)$", printed, re.MULTILINE)
    translator = kformer.load(tmp_path / "whole" / "translator.keras")
    assert keras.backend.backend() == "tensorflow"
    sources, targets = (side[toy.HELD_OUT] for side in (toy.SOURCES, toy.TARGETS))
    assert translator.translate(sources) == found
    assert sum(map(str.__eq__, found, targets)) > len(targets) / 2
