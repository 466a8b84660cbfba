"""Metrics: means over real tokens, within and across batches, and a classifier's macro F1.

Axes: B batch, T target length, V vocabulary, C labels.
"""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kformer.arguments import check_integer
from kformer.training.objective.expected import checked_ids, expected, weights_of_tokens
from kformer.training.objective.token_scores import token_scores


class _TokenMean(keras.metrics.Metric):
    """The mean of `per_token` over all real tokens.

    As one of the `weighted_metrics` of `compile`, it is the mean by the sample weights, which may
    have the shapes that `MaskedCrossEntropy` takes.
    """

    default_name: str

    def __init__(
        self,
        padding_id: int = 0,
        name: str | None = None,
        ignored_ids: Sequence[int] = (),
        **kwargs: Any,
    ):
        super().__init__(name=name or self.default_name, **kwargs)
        self.padding_id = check_integer("padding_id", padding_id)  # Keras's metrics: their name.
        self.ignored_ids = checked_ids(ignored_ids)
        self.total = self.add_variable((), "zeros", name="total")
        self.count = self.add_variable((), "zeros", name="count")

    def per_token(self, scores: Any):
        """Returns float32 (N,) for `TokenScores` of (N,)."""
        raise NotImplementedError

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None):
        scores = token_scores(y_true, y_pred, self.padding_id, self.ignored_ids)
        weights = scores.real
        if sample_weight is not None:
            ids = expected(y_true, y_pred, self.padding_id, self.ignored_ids).ids
            weights = weights * weights_of_tokens(sample_weight, ids, scores.place)
        self.total.assign_add(ops.sum(self.per_token(scores) * weights))
        self.count.assign_add(ops.sum(weights))

    def result(self):
        return ops.divide_no_nan(self.total, self.count)

    def get_config(self):
        ids = {"padding_id": self.padding_id, "ignored_ids": [*self.ignored_ids]}
        return {**super().get_config(), **ids}


@keras.saving.register_keras_serializable(package="kformer")
class MaskedAccuracy(_TokenMean):
    """Share of the real tokens whose id has the highest logit.

    Args:
        padding_id: The expected id that does not count.
        ignored_ids: More such ids, as for `MaskedCrossEntropy`.

    Examples:
        >>> import numpy as np
        >>> from kformer.training import MaskedAccuracy
        >>> answer = np.array([[7, 3, 0]])  # 0 is padding, which does not count.
        >>> logits = np.eye(10, dtype="float32")[[[7, 4, 5]]]  # 7 is right, 4 is wrong.
        >>> float(MaskedAccuracy()(answer, logits))
        0.5
    """

    default_name = "accuracy"

    def per_token(self, scores: Any):
        return scores.best


@keras.saving.register_keras_serializable(package="kformer")
class Perplexity(_TokenMean):
    """exp of the mean cross entropy of the real tokens, without label smoothing.

    Args:
        padding_id: The expected id that does not count.
        ignored_ids: More such ids, as for `MaskedCrossEntropy`.

    Examples:
        >>> import numpy as np
        >>> from kformer.training import Perplexity
        >>> answer = np.array([[7, 3, 0]])  # 0 is padding, which does not count.
        >>> logits = np.zeros((1, 3, 10), "float32")  # A guess among ten ids.
        >>> round(float(Perplexity()(answer, logits)), 3)
        10.0
    """

    default_name = "perplexity"

    def per_token(self, scores: Any):
        return scores.surprise

    def result(self):
        return ops.exp(super().result())


@keras.saving.register_keras_serializable(package="kformer")
class Tokens(_TokenMean):
    """Number of real tokens seen, or the sum of their sample weights if there are any.

    `kformer.training.TokensPerSecond` reads it.

    Args:
        padding_id: The expected id that does not count.
        ignored_ids: More such ids, as for `MaskedCrossEntropy`.

    Examples:
        >>> import numpy as np
        >>> from kformer.training import Tokens
        >>> answer = np.array([[7, 8, 3], [7, 3, 0]])  # 0 is padding, which does not count.
        >>> int(Tokens()(answer, np.zeros((2, 3, 10), "float32")))
        5
    """

    default_name = "tokens"

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None):
        wanted = expected(y_true, y_pred, self.padding_id, self.ignored_ids)
        real = wanted.real
        if wanted.has_views:  # Of the two views of an example, the first one counts.
            is_first = ops.cast(ops.arange(ops.shape(real)[0]) % 2 == 0, real.dtype)
            real = real * ops.reshape(is_first, (-1, *[1] * (len(real.shape) - 1)))
        weights = ops.reshape(real, (-1,))
        if sample_weight is not None:
            every = ops.arange(ops.size(wanted.ids))
            weights = weights * weights_of_tokens(sample_weight, wanted.ids, every)
        self.count.assign_add(ops.sum(weights))

    def result(self):
        return self.count + 0.0


@keras.saving.register_keras_serializable(package="kformer")
class MacroF1(keras.metrics.Metric):
    """The mean over the labels of the harmonic mean of precision and recall.

    Where most texts have one label, the accuracy hardly depends on the others, and this does. As
    `kformer.text.labels.ClassScores.macro_f1`, it leaves out labels that no text has and
    none was given.

    Args:
        classes: Number C of labels.
        padding_id: The expected label that does not count.
    """

    def __init__(self, classes: int, padding_id: int = -1, name: str = "f1", **kwargs: Any):
        super().__init__(name=name, **kwargs)
        self.classes = classes
        self.padding_id = padding_id
        self.right = self.add_variable((classes,), "zeros", name="right")
        self.either = self.add_variable((classes,), "zeros", name="either")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None):
        """Counts texts.

        Args:
            y_true: integer tensor (B,), the right labels; or another one that `expected` takes.
            y_pred: float tensor (B, C), the logits.
            sample_weight: tensor (B,), or None.
        """
        wanted = expected(y_true, y_pred, self.padding_id)
        counted = wanted.real
        if sample_weight is not None:
            counted = counted * ops.reshape(ops.cast(sample_weight, "float32"), (-1,))
        predicted = ops.one_hot(ops.argmax(y_pred, axis=-1), self.classes)  # (B, C)
        right = ops.one_hot(wanted.ids, self.classes)
        self.right.assign_add(ops.matmul(counted, predicted * right))
        self.either.assign_add(ops.matmul(counted, predicted + right))

    def result(self):
        """Returns the score of all texts so far, float32."""
        right, either = (ops.convert_to_tensor(counts) for counts in (self.right, self.either))
        occurs = ops.cast(either > 0, "float32")
        f1 = 2 * right / ops.where(either > 0, either, 1.0)
        return ops.sum(f1) / ops.maximum(ops.sum(occurs), 1.0)

    def get_config(self):
        return {**super().get_config(), "classes": self.classes, "padding_id": self.padding_id}
