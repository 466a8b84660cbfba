"""Macro F1 of a classifier: the mean over its labels, each with the same weight.

Axes: B texts, C labels.
"""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="kformer")
class MacroF1(keras.metrics.Metric):
    """The mean over the labels of the harmonic mean of precision and recall.

    Where most texts have one label, the accuracy hardly depends on the others, and this does. As
    `kformer.text.class_scores.ClassScores.macro_f1`, it leaves out labels that no text has and
    none was given.

    Args:
        classes: Number C of labels.
        padding_id: The expected label that does not count.
    """

    def __init__(self, classes: int, padding_id: int = -1, name: str = "f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.classes = classes
        self.padding_id = padding_id
        self.right = self.add_variable((classes,), "zeros", name="right")
        self.either = self.add_variable((classes,), "zeros", name="either")

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Counts texts.

        Args:
            y_true: integer tensor (B,), the right labels.
            y_pred: float tensor (B, C), the logits.
            sample_weight: tensor (B,), or None.
        """
        expected = ops.reshape(ops.cast(y_true, "int32"), (-1,))
        counted = ops.cast(ops.not_equal(expected, self.padding_id), "float32")
        if sample_weight is not None:
            counted = counted * ops.reshape(ops.cast(sample_weight, "float32"), (-1,))
        given = ops.one_hot(ops.argmax(y_pred, axis=-1), self.classes)  # (B, C)
        expected = ops.one_hot(expected, self.classes)
        self.right.assign_add(ops.matmul(counted, given * expected))
        self.either.assign_add(ops.matmul(counted, given + expected))

    def result(self):
        """Returns the score of all texts so far, float32."""
        right, either = (ops.convert_to_tensor(counts) for counts in (self.right, self.either))
        there = ops.cast(either > 0, "float32")
        f1 = 2 * right / ops.where(either > 0, either, 1.0)
        return ops.sum(f1) / ops.maximum(ops.sum(there), 1.0)

    def get_config(self):
        return {**super().get_config(), "classes": self.classes, "padding_id": self.padding_id}
