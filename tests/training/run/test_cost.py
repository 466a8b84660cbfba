"""The estimate of memory and time, against measurements."""

import json
import sys

import pytest
import tensorflow as tf

from kformer.training import Recipe, TrainingCost, training_cost
from kformer.training.kinds.translation_learner import compiled_transformer
from kformer.training.recipes.cost import load_of_machine
from support.processes import printed_by

# One epoch of batches in which every slot is a token.
RUN = """
import json, re, sys, numpy as np, tensorflow as tf
from kformer.training import Recipe
from kformer.training.kinds.translation_learner import compiled_transformer
changes = json.loads(sys.argv[2])
recipe = Recipe.named(sys.argv[1], **changes)
model = compiled_transformer(recipe)
ids = np.random.randint(4, recipe.vocab_size, (recipe.tokens_per_batch // 25, 25), np.int32)
batches = tf.data.Dataset.from_tensors(((ids, ids), ids)).repeat(4)
model.fit(batches.apply(tf.data.experimental.assert_cardinality(4)), verbose=0)
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tiny", {}),
        ("tiny", {"target_vocab_size": 500}),
        ("tiny", {"num_decoder_layers": 1, "decoder_cell": "ssru"}),
        ("base", {}),
    ],
)
def test_the_parameters_are_those_of_the_model(name, changes):
    recipe = Recipe.named(name, num_layers=2, vocab_size=1000, **changes)
    assert training_cost(recipe, 0, 0, speed=1.0).parameters == (
        compiled_transformer(recipe).count_params()
    )


@pytest.mark.prove
@pytest.mark.skipif(sys.platform != "linux", reason="The peak is read from /proc.")
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tiny", {"vocab_size": 8000, "tokens_per_batch": 4096}),
        ("tiny", {"vocab_size": 16000, "tokens_per_batch": 8192}),
        ("base", {"vocab_size": 8000, "tokens_per_batch": 2048}),
    ],
)
def test_the_memory_is_within_a_third(name, changes):
    measured = 1024 * int(printed_by("-c", RUN, name, json.dumps(changes)))
    assert 0.7 < training_cost(Recipe.named(name, **changes), 0, 0, 1.0).memory / measured < 1.3


@pytest.mark.sample(2)
@pytest.mark.parametrize("target_vocab_size", [0, 3000])
def test_the_time_is_that_of_the_operations_that_tensorflow_counts(target_vocab_size):
    """In a forward pass, times three; attention to short sentences takes the difference."""
    changes = {"num_layers": 2, "vocab_size": 1000, "target_vocab_size": target_vocab_size}
    recipe = Recipe.named("tiny", **changes)
    model = compiled_transformer(recipe)
    ids = tf.TensorSpec([1, 24], tf.int32)
    forward = tf.function(lambda source, target: model((source, target)))
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    counted = tf.compat.v1.profiler.profile(
        forward.get_concrete_function(ids, ids).graph,
        options=builder(builder.float_operation()).with_empty_output().build(),
    )
    speed = 1e9 * recipe.d_model / (recipe.d_model + 130)  # See `training_cost`.
    estimate = training_cost(recipe, 24, 24, 1e9).seconds * speed
    assert estimate == pytest.approx(3 * counted.total_float_ops, rel=0.1)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_speed_is_measured_by_default(precision):
    assert 0 < training_cost(Recipe.named("tiny", precision=precision), 1, 1).seconds < 1


def test_products_take_the_time_of_their_precision_and_other_work_that_of_float32(monkeypatch):
    speeds = {"float32": 1e9, "bfloat16": 4e9}
    monkeypatch.setattr("kformer.training.recipes.cost.matmul_speed", speeds.__getitem__)
    seconds = [
        training_cost(Recipe.named("tiny", precision=precision), 1000, 1000).seconds
        for precision in speeds
    ]
    d_model = Recipe.named("tiny").d_model
    assert seconds[1] / seconds[0] == pytest.approx((0.25 + 130 / d_model) / (1 + 130 / d_model))


def test_an_estimate_reads_as_a_sentence():
    cost = training_cost(Recipe.named("tiny", epochs=20), 10**9, 10**9, 1e11)
    assert str(cost).startswith("The model has 2,349,568 parameters. Training takes about 1.")
    days = cost.seconds / 3600 / 24
    assert str(cost).endswith(
        f"{days:.1f} days for an epoch, {days * cost.epochs:.1f} days for all {cost.epochs}."
    )


@pytest.mark.parametrize(
    ("running", "said"),
    [
        (0.2, " 12 seconds for an epoch, 4.0 minutes for all 20."),
        (
            7.0,  # Three other processes for each of two cores.
            ", while other programs use the machine, 12 seconds to 48 seconds for an epoch, "
            "4.0 minutes to 16.0 minutes for all 20.",
        ),
    ],
)
def test_other_programs_make_the_time_a_range(running, said, monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (running, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    cost = TrainingCost(1, 1.0, 12.0, 20, load_of_machine())
    assert str(cost).endswith(f"memory and{said}")


def test_a_model_too_large_for_the_machine_gets_a_warning_with_advice(monkeypatch):
    monkeypatch.setattr("kformer.training.recipes.cost.memory_of_machine", lambda: 2 * 2**30)
    assert training_cost(Recipe.named("tiny", tokens_per_batch=256), 1, 1, 1.0).warnings() == []
    [warning] = training_cost(Recipe.named("base"), 1, 1, 1.0).warnings()
    assert "the machine has 2.0: lower --tokens-per-batch" in warning


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "less than a second"),
        (1.2, "1 second"),
        (12.4, "12 seconds"),
        (89, "89 seconds"),
        (600, "10.0 minutes"),
        (7200, "2.0 hours"),
        (259200, "3.0 days"),
    ],
)
def test_the_time_has_a_fitting_unit(seconds, said):
    assert f" and {said} for an epoch." in str(TrainingCost(1, 2**30, seconds))
