"""The Simpler Simple Recurrent Unit: one vector of state instead of attention to all positions.

Axes: B batch, T length, D d_model.
"""

from typing import Any

import keras
from keras import ops

from kformer.arguments import check_integer
from kformer.model.attention import precise
from kformer.model.dense import HoldsDense, apply_dense


def next_state(decay: Any, update: Any, state: Any) -> Any:
    """Returns decay * state + (1 - decay) * update, the recurrence of an `SSRU`.

    Args:
        decay, update, state: float tensors of one shape; the decay is in [0, 1].
    """
    return update + decay * (state - update)


def all_states(decay: Any, update: Any) -> Any:
    """Returns the states after each position, where `next_state` starts from zero.

    All positions are computed at once, in ceil(log2(T)) rounds; in each, a state takes in twice as
    many positions. The sums are of products of decays alone, which are at most 1: nothing is
    divided, so small decays lose nothing. The gradient is the same recurrence from the end.

    Args:
        decay, update: float tensors (B, T, D); the decay is in [0, 1].

    Returns:
        float tensor (B, T, D).
    """

    @ops.custom_gradient
    def recur(decay, added):
        states = _recurrence(decay, added)

        def gradient(upstream):
            later = ops.pad(decay[:, 1:], ((0, 0), (0, 1), (0, 0)))
            d_added = ops.flip(_recurrence(*(ops.flip(x, 1) for x in (later, upstream))), 1)
            before = ops.pad(states[:, :-1], ((0, 0), (1, 0), (0, 0)))
            return d_added * before, d_added

        return states, gradient

    return recur(decay, (1 - decay) * update)


def _recurrence(decay, added):
    """Returns the states c[t] = decay[t] * c[t - 1] + added[t], where c[-1] is zero.

    Rounds of doubling, as of [Hillis and Steele, 1986](https://doi.org/10.1145/7902.7903): before
    the round of `shift`, `added` is the state if all before the last `shift` positions were zero,
    and `decay` is the product of that many decays.
    """

    def double(shift, decay, added):
        def joined(early, late):
            return ops.concatenate([early[:, :shift], late], axis=1)

        factor = decay[:, shift:]
        return (
            2 * shift,
            joined(decay, factor * decay[:, :-shift]),
            joined(added, added[:, shift:] + factor * added[:, :-shift]),
        )

    length = ops.shape(decay)[1]
    if not isinstance(length, int):  # A graph of TensorFlow, for any length.
        _, _, states = ops.while_loop(
            lambda shift, *_: shift < length,
            lambda *values: _like(values, double(*values)),
            (ops.convert_to_tensor(1, "int32"), decay, added),
        )
        return states
    shift = 1
    while shift < length:
        shift, decay, added = double(shift, decay, added)
    return added


def _like(before, after):
    """Returns `after` with the static shapes of `before`, which slices of any length lose."""
    for old, new in zip(before, after, strict=True):
        new.set_shape(old.shape)
    return after


@keras.saving.register_keras_serializable(package="kformer")
class SSRU(HoldsDense, keras.layers.Layer):
    """The Simpler Simple Recurrent Unit, which replaces the self-attention of a decoder.

        f[t] = sigmoid(x[t] W_f + b_f)
        c[t] = f[t] * c[t - 1] + (1 - f[t]) * x[t] W
        output[t] = relu(c[t])

    Section 3.1 of [Kim et al., 2019](https://aclanthology.org/D19-5632), as in Marian. Each state
    depends on its own position and earlier ones alone, so there is no mask: padding behind the
    last position cannot change what is before it. The states are computed in float32 at least.

    Args:
        d_model: Width of the inputs, of the states and of the output.

    Call arguments:
        x: float tensor (B, T, D).

    Returns:
        float tensor (B, T, D).

    Examples:
        >>> import keras
        >>> import kformer
        >>> print(kformer.SSRU(d_model=16)(keras.ops.ones((2, 5, 16))).shape)
        (2, 5, 16)
    """

    def __init__(self, d_model: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.d_model = check_integer("d_model", d_model, least=1)
        self.supports_masking = True
        dtype = self.dtype_policy
        self.input_projection = keras.layers.Dense(
            d_model, use_bias=False, name="input", dtype=dtype
        )
        self.forget_gate = keras.layers.Dense(d_model, name="forget_gate", dtype=dtype)

    @property
    def parts(self):
        return self.input_projection, self.forget_gate

    def build(self, input_shape: tuple[int | None, ...]):
        for dense in self.parts:
            dense.build((None, None, self.d_model))

    def call(self, x: Any):
        decay = ops.sigmoid(precise(apply_dense(self.forget_gate, x)))
        states = all_states(decay, precise(apply_dense(self.input_projection, x)))
        return ops.cast(ops.relu(states), self.compute_dtype)

    def compute_output_spec(self, x: Any):
        return keras.KerasTensor(x.shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "d_model": self.d_model}
