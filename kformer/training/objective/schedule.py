"""The learning rate: linear warm-up, then inverse square root decay."""

import keras
from keras import ops

from kformer.arguments import check_integer, check_number


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

    def __call__(self, step):
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
