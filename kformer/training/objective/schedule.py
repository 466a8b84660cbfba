"""The learning rate: linear warm-up, then inverse square root decay."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="kformer")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), also called Noam.

    Section 5.3 of [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), where the scale is 1.
    The highest rate, scale * (d_model * warmup_steps)^-0.5, comes at step `warmup_steps`. Steps
    count from 0, where the rate is 0.

    Args:
        d_model: Width of the model.
        warmup_steps: Steps until the highest rate.
        scale: Factor of all rates.
    """

    def __init__(self, d_model: int, warmup_steps: int = 4000, scale: float = 1.0):
        super().__init__()
        if d_model < 1 or warmup_steps < 1:
            raise ValueError(
                "`d_model` and `warmup_steps` must be positive. "
                f"Received: d_model={d_model}, warmup_steps={warmup_steps}."
            )
        if not scale > 0:
            raise ValueError(f"`scale` must be positive. Received: scale={scale}.")
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        self.scale = scale

    def __call__(self, step):
        step = ops.cast(step, "float32")
        rising = step * self.warmup_steps**-1.5
        falling = ops.rsqrt(ops.maximum(step, 1.0))  # At step 0, `rising` is less anyway.
        return self.scale * self.d_model**-0.5 * ops.minimum(rising, falling)

    def get_config(self):
        return {
            "d_model": self.d_model,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
        }
