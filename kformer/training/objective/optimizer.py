"""Adam that also keeps a moving average of the weights, and its schedule with warm-up.

The learning rate rises linearly, then falls with the inverse square root of the step.

This file uses private names of Keras's optimizers where there is no public one; a test in
`tests/training/objective/test_optimizer.py` lists them and checks that Keras still has them.
"""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kformer.arguments import check_integer, check_number
from kformer.backend import is_tensorflow, num_replicas

_ADAM_SIZE = 0.2  # Root mean square of Adam's steps, in learning rates.
_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Muon's coefficients of x, x³ and x⁵.


@keras.saving.register_keras_serializable(package="kformer")
class AveragedAdam(keras.optimizers.Adam):
    """Adam that also keeps a moving average of the weights; its updates are Adam's.

    After update t, the average is m average + (1 - m) weights, with m the lesser of
    `average_momentum` and (t - 1) / (t + 8), so that early averages soon forget the initial
    weights. `kformer.training.WithAverage` validates with it.

    (Keras's `use_ema` overwrites the weights with the average when `fit` ends, for good.)

    Works under `tf.distribute` strategies, except with `gradient_accumulation_steps` on several
    replicas.

    With `gradient_accumulation_steps`, a learning rate schedule and the average count updates,
    not batches.

    Args:
        learning_rate, beta_1, beta_2, epsilon, amsgrad: As for `keras.optimizers.Adam`.
        average_momentum: In [0, 1); 0 for no average.
        **kwargs: The other arguments of `keras.optimizers.Adam`.

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import AveragedAdam
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile(AveragedAdam(0.1, average_momentum=0.9), "mse", jit_compile=False)
        >>> x, y = np.ones((8, 1)), np.ones((8, 1))
        >>> losses = model.fit(x, y, epochs=9, verbose=0).history["loss"]
        >>> losses[-1] < losses[0]
        True
    """

    def __init__(
        self,
        learning_rate: float | keras.optimizers.schedules.LearningRateSchedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        *,
        average_momentum: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, **kwargs)
        self.average_momentum = check_number("average_momentum", average_momentum, least=0, below=1)
        self.averages: list = []  # One for each trainable weight, in their order.

    def build(self, var_list: Sequence[Any]):
        if self.built:
            return
        if self.gradient_accumulation_steps and num_replicas() > 1:
            raise ValueError(
                "Gradients cannot be accumulated under a strategy of `tf.distribute` with several "
                "replicas; make the batches larger instead. Received: "
                f"gradient_accumulation_steps={self.gradient_accumulation_steps}, {num_replicas()} "
                "replicas."
            )
        super().build(var_list)
        if self.average_momentum:
            self.averages = self.add_optimizer_variables(var_list, "average")

    def averages_of(self, variables: Sequence[Any]) -> list:
        """Returns the average of each of `variables`, weights that were trainable at first.

        Raises:
            ValueError: One of them became trainable later.
        """
        try:
            return [self.averages[self._get_variable_index(variable)] for variable in variables]
        except KeyError as error:
            raise ValueError(
                "A model must be compiled again, with a new optimizer, after layers became "
                "trainable: the optimizer keeps no average of their weights. "
                f"Received: {len(variables)} trainable weights, and {len(self.averages)} averages."
            ) from error

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None):
        before = ops.cast(self.iterations, "float32")
        super().apply(grads, trainable_variables)
        if not self.averages:
            return
        t = ops.cast(self.iterations, "float32")
        momentum = ops.minimum(self.average_momentum, (t - 1) / (t + 8))
        # In an accumulation step the weights do not change.
        momentum = ops.where(t > before, momentum, 1.0)
        for weight, average in zip(self._trainable_variables, self.averages, strict=True):
            share = ops.cast(1 - momentum, weight.dtype)
            self.assign_add(average, share * (weight - average))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any):
        """Updates as Keras does, in one operation instead of a dozen passes over the weights."""
        if not is_tensorflow() or self.amsgrad:
            super().update_step(gradient, variable, learning_rate)
            return
        import tensorflow as tf  # Only its backend has such an operation.

        index = self._get_variable_index(variable)
        step = ops.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=_handle(variable),
            m=_handle(self._momentums[index]),
            v=_handle(self._velocities[index]),
            beta1_power=ops.power(ops.cast(self.beta_1, variable.dtype), step),
            beta2_power=ops.power(ops.cast(self.beta_2, variable.dtype), step),
            lr=ops.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=ops.cast(gradient, variable.dtype),
        )

    def _get_current_learning_rate(self):
        if isinstance(self._learning_rate, keras.optimizers.schedules.LearningRateSchedule):
            return self._learning_rate(self.iterations)  # Keras counts batches here.
        return super()._get_current_learning_rate()

    def get_config(self):
        return {**super().get_config(), "average_momentum": self.average_momentum}


def _handle(variable):
    """Returns the resource handle of a variable of Keras or of TensorFlow."""
    return (variable.value if isinstance(variable, keras.Variable) else variable).handle


@keras.saving.register_keras_serializable(package="kformer")
class AveragedMuon(AveragedAdam):
    """Muon for the matrices of layers, and Adam for tables, biases and norms; with an average.

    Muon's step is the direction of the momentum with all its singular values made about one
    ([Jordan et al., 2024](https://kellerjordan.github.io/posts/muon/)), by five iterations of
    Newton and Schulz. Its root mean square is made that of Adam's steps, so that both have one
    learning rate ([Liu et al., 2025](https://arxiv.org/abs/2502.16982), equation 4). The average
    is that of `AveragedAdam`.

    Args:
        learning_rate: As for `AveragedAdam`, for all weights.
        momentum: In [0, 1), of Nesterov's momentum of the matrices.
        **kwargs: The other arguments of `AveragedAdam`: the betas and epsilon count for the weights
            that are no matrices of layers.

    Examples:
        >>> import keras
        >>> import numpy as np
        >>> from kformer.training import AveragedMuon
        >>> model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
        >>> model.compile(AveragedMuon(0.1), "mse", jit_compile=False)
        >>> x, y = np.ones((8, 3)), np.ones((8, 1))
        >>> losses = model.fit(x, y, epochs=9, verbose=0).history["loss"]
        >>> losses[-1] < losses[0]
        True
    """

    def __init__(
        self,
        learning_rate: float | keras.optimizers.schedules.LearningRateSchedule = 0.001,
        *,
        momentum: float = 0.95,
        **kwargs: Any,
    ):
        super().__init__(learning_rate, **kwargs)
        self.momentum = check_number("momentum", momentum, least=0, below=1)
        self._is_matrix: list[bool] = []  # Of a layer, and no table; for each trainable weight.

    def build(self, var_list: Sequence[Any]):
        super().build(var_list)
        self._is_matrix = [
            len(variable.shape) == 2 and "embedding" not in variable.path for variable in var_list
        ]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any):
        """Updates a matrix of a layer as Muon does, all else as Adam."""
        index = self._get_variable_index(variable)
        if not self._is_matrix[index]:
            super().update_step(gradient, variable, learning_rate)
            return
        momentum = self._momentums[index]
        self.assign(momentum, self.momentum * momentum + gradient)
        direction = _orthogonal(gradient + self.momentum * momentum)
        size = _ADAM_SIZE * max(variable.shape) ** 0.5
        self.assign_sub(variable, ops.cast(learning_rate, variable.dtype) * size * direction)

    def get_config(self):
        return {**super().get_config(), "momentum": self.momentum}


def _orthogonal(matrix):
    """Returns a matrix of the same singular vectors, whose singular values are about 1."""
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = ops.transpose(matrix) if is_tall else matrix
    x = x / (ops.sqrt(ops.sum(ops.square(x))) + 1e-7)
    for _ in range(5):
        squared = ops.matmul(x, ops.transpose(x))
        x = _NEWTON_SCHULZ[0] * x + ops.matmul(
            _NEWTON_SCHULZ[1] * squared + _NEWTON_SCHULZ[2] * ops.matmul(squared, squared), x
        )
    return ops.transpose(x) if is_tall else x


@keras.saving.register_keras_serializable(package="kformer")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), also called Noam.

    Section 5.3 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), where the scale is 1.
    The highest rate, scale * (d_model * warmup_steps)^-0.5, comes at step `warmup_steps`. Steps
    count from 0, where the rate is 0.

    A run of few steps would end within the warm-up, at a small part of the highest rate. With
    `rising_steps` the rate reaches the same height sooner, keeps it until step `warmup_steps`, and
    falls as before.

    Args:
        d_model: Width of the model.
        warmup_steps: Steps until the highest rate.
        scale: Factor of all rates.
        rising_steps: Steps until the highest rate, if they are fewer than `warmup_steps`.

    Examples:
        >>> from kformer.training import WarmupSchedule
        >>> schedule = WarmupSchedule(d_model=512, warmup_steps=4000)
        >>> [round(float(schedule(step)), 6) for step in (0, 1000, 4000, 16000)]
        [0.0, 0.000175, 0.000699, 0.000349]
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int = 4000,
        scale: float = 1.0,
        rising_steps: int | None = None,
    ):
        super().__init__()
        self.d_model = check_integer("d_model", d_model, least=1)
        self.warmup_steps = check_integer("warmup_steps", warmup_steps, least=1)
        self.scale = check_number("scale", scale, above=0)
        if rising_steps is not None:
            check_integer("rising_steps", rising_steps, least=1, most=warmup_steps)
        self.rising_steps = rising_steps

    def __call__(self, step: Any):
        step = ops.cast(step, "float32")
        rising = step * (self.warmup_steps**-0.5 / (self.rising_steps or self.warmup_steps))
        # Until step `warmup_steps`, the highest rate.
        falling = ops.rsqrt(ops.maximum(step, float(self.warmup_steps)))
        return self.scale * self.d_model**-0.5 * ops.minimum(rising, falling)

    def get_config(self):
        return {
            "d_model": self.d_model,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
            "rising_steps": self.rising_steps,
        }
