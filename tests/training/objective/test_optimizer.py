"""Adam and Muon with an average: against those of Keras, and NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import kformer
from kformer.training import AveragedAdam, AveragedMuon, Recipe, WarmupSchedule, WithAverage
from kformer.training.callbacks.weight_average import averaged_weights
from kformer.training.run.replicas import compile_network

GRADIENTS = np.random.RandomState(0).normal(size=(12, 5)).astype("float32")


def weights_after_each(optimizer, gradients=GRADIENTS):
    """Returns the weights and their average after each of `gradients`: (N, 5) each."""
    weights = keras.Variable(np.arange(5.0), dtype="float32")
    optimizer.build([weights])
    seen = []
    for gradient in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(gradient)])
        averages = [np.array(average) for average in getattr(optimizer, "averages", [])]
        seen.append((np.array(weights), *averages))
    return [np.stack(column) for column in zip(*seen, strict=True)]


def test_keras_has_the_private_names_that_the_optimizer_uses():
    weights = keras.Variable(np.arange(5.0), dtype="float32")
    schedule = WarmupSchedule(d_model=4)
    adam = keras.optimizers.Adam(schedule)
    adam.build([weights])
    assert adam._get_variable_index(weights) == 0
    assert [len(slots) for slots in (adam._momentums, adam._velocities)] == [1, 1]
    assert adam._trainable_variables[0] is weights
    assert adam._learning_rate is schedule
    assert adam._get_current_learning_rate() == adam.learning_rate == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("steps", [None, 3])
def test_the_weights_are_those_of_keras(steps, amsgrad):
    settings = {"beta_2": 0.98, "gradient_accumulation_steps": steps, "amsgrad": amsgrad}
    settings |= {"epsilon": 1e-9, "weight_decay": 0.01, "clipnorm": 1.0}
    [expected] = weights_after_each(keras.optimizers.Adam(0.1, **settings))
    for momentum in (0.0, 0.9):
        weights = weights_after_each(AveragedAdam(0.1, average_momentum=momentum, **settings))[0]
        np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.tensorflow("Other backends have no gradients of rows alone.")
def test_the_gradient_of_rows_that_were_looked_up_is_that_of_the_whole_table():
    table = keras.Variable(np.ones((4, 3)), dtype="float32")
    optimizer = AveragedAdam(0.1)
    optimizer.build([table])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table.value, [1, 1, 2]))
    optimizer.apply(tape.gradient(loss, [table.value]))
    np.testing.assert_allclose(table, [[1.0] * 3, [0.9] * 3, [0.9] * 3, [1.0] * 3], atol=1e-6)


def test_the_average_is_one_of_the_weights_so_far_and_soon_of_as_many_as_it_should():
    weights, averages = weights_after_each(AveragedAdam(0.1, average_momentum=0.5))
    expected = np.zeros(5)
    for t, now in enumerate(weights, start=1):
        momentum = min(0.5, (t - 1) / (t + 8))
        expected = momentum * expected + (1 - momentum) * now
        np.testing.assert_allclose(averages[t - 1], expected, rtol=1e-5)
    np.testing.assert_array_equal(averages[0], weights[0])


def test_the_average_counts_steps_and_not_batches():
    accumulated = AveragedAdam(0.1, average_momentum=0.9, gradient_accumulation_steps=2)
    weights, averages = weights_after_each(accumulated, np.repeat(GRADIENTS, 2, axis=0))
    one_by_one = weights_after_each(AveragedAdam(0.1, average_momentum=0.9))
    np.testing.assert_allclose(weights[1::2], one_by_one[0], rtol=1e-5)
    np.testing.assert_allclose(averages[1::2], one_by_one[1], rtol=1e-5)
    np.testing.assert_array_equal(averages[2::2], averages[1:-1:2])  # Between two steps.


def weights_of_network(optimizer):
    """Returns all weights of a small network after some steps on the same numbers."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Embedding(9, 6, name="embedding"), keras.layers.Dense(12, "relu")]
    model = keras.Sequential([*layers, keras.layers.Dense(3)])
    model.compile(optimizer, "mse", jit_compile=False)
    numbers = np.random.RandomState(0)
    for _ in range(6):
        ids = numbers.permutation(9)[:8].reshape(4, 2)  # Keras's Muon adds up those of equal ids.
        model.train_on_batch(ids, numbers.normal(size=(4, 2, 3)))
    return [np.array(weight) for weight in model.trainable_variables]


def test_muon_takes_the_steps_of_that_of_keras():
    settings = {"epsilon": 1e-9, "weight_decay": None, "adam_weight_decay": None}
    expected = weights_of_network(keras.optimizers.Muon(0.02, adam_beta_2=0.98, **settings))
    muon = AveragedMuon(0.02, beta_2=0.98, epsilon=1e-9, average_momentum=0.9)
    for weight, of_keras in zip(weights_of_network(muon), expected, strict=True):
        np.testing.assert_allclose(weight, of_keras, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(6, 6), (4, 12), (12, 4)])
def test_a_step_of_muon_has_singular_values_that_are_alike(shape):
    matrix = keras.Variable(np.zeros(shape), dtype="float32", name="kernel")
    optimizer = AveragedMuon(1.0, momentum=0.0)
    optimizer.build([matrix])
    gradient = np.random.RandomState(1).normal(size=shape).astype("float32")
    optimizer.apply([keras.ops.convert_to_tensor(gradient)])
    step = -np.array(matrix) / (0.2 * max(shape) ** 0.5)
    left, _, right = np.linalg.svd(gradient, full_matrices=False)
    values = np.diag(left.T @ step @ right.T)  # In the singular vectors of the gradient.
    assert (values > 0.6).all() and (values < 1.3).all()
    np.testing.assert_allclose(step, left @ np.diag(values) @ right, atol=1e-3)


def test_muon_is_kept_in_a_config():
    config = AveragedMuon(WarmupSchedule(8, 9), momentum=0.8, average_momentum=0.75).get_config()
    copied = AveragedMuon.from_config(config)
    assert (copied.momentum, copied.average_momentum) == (0.8, 0.75)


def test_a_schedule_counts_steps_and_not_batches():
    optimizer = AveragedAdam(WarmupSchedule(64, 7), gradient_accumulation_steps=3)
    optimizer.build([keras.Variable(np.zeros(5), dtype="float32")])
    rates = []
    for gradient in GRADIENTS:
        rates.append(float(optimizer.learning_rate))
        optimizer.apply([keras.ops.convert_to_tensor(gradient)])
    schedule = WarmupSchedule(64, 7)
    np.testing.assert_allclose(rates, [float(schedule(batch // 3)) for batch in range(12)])


def test_it_is_saved_with_its_momentum():
    optimizer = AveragedAdam(WarmupSchedule(8, 9), average_momentum=0.75)
    copied = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(copied, AveragedAdam)
    assert copied.average_momentum == 0.75
    assert copied.get_config() == optimizer.get_config()


@pytest.mark.parametrize("momentum", [-0.1, 1.0])
def test_the_momentum_must_be_less_than_one(momentum):
    with pytest.raises(ValueError, match=f"Received: average_momentum={momentum}"):
        AveragedAdam(average_momentum=momentum)


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])
    model.compile(AveragedAdam(0.1, average_momentum=0.9), loss="mse")
    return model


X, Y = GRADIENTS, GRADIENTS[:, :1]


def test_weights_come_back_to_the_bit_whatever_happens_meanwhile(model):
    model.fit(X, Y, epochs=3, verbose=0)
    before = model.get_weights()
    with pytest.raises(ZeroDivisionError), averaged_weights(model):
        np.testing.assert_equal(model.get_weights(), model.optimizer.averages)
        model.trainable_variables[0].assign(X[:5, :1])
        raise ZeroDivisionError
    np.testing.assert_equal(model.get_weights(), before)


def test_layers_that_are_frozen_after_the_first_step_keep_their_weights():
    first, last = keras.layers.Dense(3), keras.layers.Dense(1)
    model = keras.Sequential([keras.Input((5,)), first, last])
    model.compile(AveragedAdam(0.1, average_momentum=0.9), loss="mse")
    model.fit(X, Y, epochs=3, verbose=0)
    first.trainable = False
    before, averages = first.get_weights(), [np.array(a) for a in model.optimizer.averages]
    with averaged_weights(model):
        np.testing.assert_equal(first.get_weights(), before)
        np.testing.assert_equal(last.get_weights(), averages[2:])
    if keras.backend.backend() == "tensorflow":  # On JAX, Keras refuses it in words of its own.
        model.fit(X, Y, epochs=2, verbose=0, validation_data=(X, Y), callbacks=[WithAverage()])


def test_layers_that_become_trainable_need_a_new_optimizer():
    first, last = keras.layers.Dense(3, trainable=False), keras.layers.Dense(1)
    model = keras.Sequential([keras.Input((5,)), first, last])
    model.compile(AveragedAdam(0.1, average_momentum=0.9), loss="mse")
    model.fit(X, Y, verbose=0)
    first.trainable = True
    message = r"compiled again.*Received: 4 trainable weights, and 2 averages\."
    with pytest.raises(ValueError, match=message), averaged_weights(model):
        pass


class Look(keras.callbacks.Callback):
    """Notes the loss that the model has at the end of each epoch."""

    def __init__(self):
        super().__init__()
        self.losses, self.logged = [], []

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(float(np.mean((self.model(X) - Y) ** 2)))
        self.logged.append(logs["val_loss"])


@pytest.mark.prove
def test_validation_and_the_callbacks_within_see_the_average_and_training_does_not(model):
    start = model.get_weights()
    without, within = Look(), Look()
    model.fit(X, Y, validation_data=(X, Y), epochs=4, verbose=0, callbacks=[without], shuffle=False)
    trained = model.get_weights()
    other = keras.models.clone_model(model)
    other.compile(AveragedAdam(0.1, average_momentum=0.9), loss="mse")
    other.set_weights(start)
    average = WithAverage([within])
    other.fit(X, Y, validation_data=(X, Y), epochs=4, verbose=0, callbacks=[average], shuffle=False)
    np.testing.assert_allclose(within.losses, within.logged, rtol=1e-5)
    assert not np.isclose(within.losses[-1], without.losses[-1], rtol=1e-3)
    for one, another in zip(other.get_weights(), trained, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-5)


@pytest.mark.prove
def test_without_an_average_there_is_nothing_to_look_at(model):
    model.compile(keras.optimizers.Adam(), loss="mse")
    with pytest.raises(ValueError, match=r"compiled with an `AveragedAdam` .*Received: optimizer="):
        model.fit(X, Y, verbose=0, callbacks=[WithAverage()], validation_data=(X, Y))


@pytest.mark.parametrize("name, kind", [("adam", AveragedAdam), ("muon", AveragedMuon)])
def test_a_recipe_chooses_the_optimizer(name, kind):
    recipe = Recipe.named("tiny", optimizer=name, num_layers=1, d_model=8, num_heads=2)
    network = kformer.Transformer(9, 1, 8, 2, 16)
    compile_network(network, recipe, 0, None)
    assert type(network.optimizer) is kind
    assert network.optimizer.average_momentum == recipe.ema_momentum
