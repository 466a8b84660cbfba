"""What users of Keras type, for text and for ids: a call, `predict`, `fit`, `evaluate`, `export`.

Ids go to Keras as to any model. Text goes to the method that answers it, such as `translate`.

Axes: N texts, T length in ids.
"""

import functools
import pkgutil
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kformer.arguments import as_texts, check_choice, single_text
from kformer.decoding.decoder_inputs import padded
from kformer.kinds import EXPORTERS, kind_of, known_kind


def takes_ids(inputs: Any) -> bool:
    """Returns whether inputs are ids: numbers in arrays or lists, or a data set of them."""
    if hasattr(inputs, "element_spec"):  # A `tf.data.Dataset`.
        specs = keras.tree.flatten(inputs.element_spec)
        return not any(_is_text(spec.dtype) for spec in specs)
    if isinstance(inputs, keras.utils.PyDataset | dict):
        return True
    if hasattr(inputs, "dtype"):
        return not _is_text(inputs.dtype)
    if isinstance(inputs, list | tuple):
        return bool(inputs) and takes_ids(inputs[0])
    return isinstance(inputs, int | float)


def _is_text(dtype):
    return not any(word in str(dtype) for word in ("int", "float", "bool"))


class KerasMethods(keras.Model):
    """The methods of `keras.Model` for a model of text; a mixin.

    A model that learns from texts defines `_examples`.
    """

    def __call__(self, *args: Any, **kwargs: Any):
        """Answers texts, as the method of this kind does; or runs the network on ids.

        Args:
            *args: A string, a list of N strings or a string tensor (N,); or ids, as `call` takes
                them.

        Returns:
            What `translate`, `classify`, `generate`, `tag` or `encode` returns; for ids a tensor.
        """
        if args and not takes_ids(args[0]):
            return self._answer(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __getattr__(self, name: str):
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        kind = None if name.startswith("_") else kind_of(self)
        if kind is not None and name != kind.network[0]:
            message += f"; its network, a Keras model of ids, is `{kind.network[0]}`"
        raise AttributeError(f"{message}.", name=name, obj=self)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Answers texts, as the method of this kind does; or returns the network's outputs for ids.

        Args:
            x: list of N strings, a NumPy array or a string tensor (N,), a data set of strings, or
                one string; or ids, as `call` takes them.
            batch_size: Texts, or rows of ids, computed at once; 32 by default.
            verbose, steps, callbacks: As for `keras.Model.predict`; for ids alone.
            **kwargs: Further arguments of the method, such as `beam_size` of `translate`.

        Returns:
            what `translate`, `classify`, `generate`, `tag` or `encode` returns, where a list of
            strings is a NumPy array (N,) of dtype object; for ids a NumPy array.
        """
        if takes_ids(x):
            return super().predict(x, batch_size, verbose, steps, callbacks, **kwargs)
        kwargs["batch_size"] = 32 if batch_size is None else batch_size
        answers = self._answer(_read_strings(x) if hasattr(x, "element_spec") else x, **kwargs)
        is_list_of_strings = isinstance(answers, list) and isinstance((answers or [""])[0], str)
        return np.array(answers, object) if is_list_of_strings else answers

    @functools.wraps(keras.Model.fit, assigned=())  # Its signature alone.
    def fit(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any):
        """As `keras.Model.fit`, from texts and their answers or from ids.

        Ids are rows as the network takes them, in arrays or in a data set; `kformer.training` has
        functions that make data sets of files. Long training from files, which is faster in batches
        of similar length, is better left to `kformer.training`, too.

        Args:
            x: list of N strings, a NumPy array or a string tensor (N,); or ids.
            y: N answers: translations for a translator; labels, or their numbers, for a
                classifier; for a tagger a list of labels for each text; None for a language model,
                which learns to continue `x`. Padding has the sample weight 0.
            *args, **kwargs: As for `keras.Model.fit`; `validation_data` may be texts, too.

        Raises:
            TypeError: The model cannot learn from such texts.
            ValueError: There are not as many answers as texts, or a label is not the model's.
        """
        validation = kwargs.get("validation_data")
        if isinstance(validation, tuple | list) and not takes_ids(validation[0]):
            kwargs["validation_data"] = self._prepared(*validation)
        if x is None or takes_ids(x):
            return super().fit(x, y, *args, **kwargs)
        x, y, kwargs["sample_weight"] = self._prepared(x, y, kwargs.get("sample_weight"))
        return super().fit(x, y, *args, **kwargs)

    @functools.wraps(keras.Model.evaluate, assigned=())  # Its signature alone.
    def evaluate(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any):
        """As `keras.Model.evaluate`: loss and metrics for texts and their answers, or for ids.

        Args:
            x, y: As for `fit`.
            *args, **kwargs: As for `keras.Model.evaluate`.

        Raises:
            TypeError, ValueError: As for `fit`.
        """
        if x is None or takes_ids(x):
            return super().evaluate(x, y, *args, **kwargs)
        x, y, kwargs["sample_weight"] = self._prepared(x, y, kwargs.get("sample_weight"))
        return super().evaluate(x, y, *args, **kwargs)

    def export(
        self,
        filepath: str | Path,
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        **kwargs: Any,
    ) -> Path:
        """Writes a model of text that needs no Python, as functions of `kformer.export` do.

        Args:
            filepath: Folder of a SavedModel, which is written to `filepath/1`, or to the next
                number; or name of a `.tflite` file.
            format: "tf_saved_model", written by `export_saved_model`, or "litert", written by
                `export_tflite`.
            verbose: Ignored.
            **kwargs: Further arguments of these functions.

        Returns:
            `Path` of the SavedModel or of the file.
        """
        check_choice("format", format, EXPORTERS)
        written = pkgutil.resolve_name(EXPORTERS[format])(self, filepath, **kwargs)
        return Path(filepath) if written is None else written

    def _answer(self, texts, **options):
        return getattr(self, known_kind(self).does)(texts, **options)

    def _prepared(self, texts, answers=None, sample_weight=None):
        """Returns inputs, expected outputs and sample weights for Keras."""
        if hasattr(texts, "element_spec"):
            raise TypeError(
                "A data set for `fit` and `evaluate` must have ids, such as those of "
                "`kformer.training`; texts are read from lists. "
                f"Received: x={texts!r:.99}."
            )
        text = single_text("x", texts)
        texts = as_texts(texts, "x") if text is None else [text]
        inputs, expected, weights = self._examples(texts, answers)
        if sample_weight is not None:  # Of texts, or of their tokens.
            row_weights = np.asarray(sample_weight, np.float32)
            extended = row_weights.reshape(
                row_weights.shape + (1,) * (expected.ndim - row_weights.ndim)
            )
            weights = extended if weights is None else weights * extended
        return inputs, expected, weights

    def _examples(self, texts: list[str], answers: Any) -> tuple:
        """Returns inputs, expected outputs and weights (N, T) or None, for texts and answers."""
        raise TypeError(
            f"A {type(self).__name__} learns nothing from texts alone; train a "
            "kformer.TextClassifier or kformer.TextTagger with its encoder, or fit it to ids and "
            f"vectors. Received: {len(texts)} texts."
        )


def _read_strings(texts):
    """Returns the strings of a data set of strings, or of batches of them."""
    batches = (np.atleast_1d(batch) for batch in texts.as_numpy_iterator())
    return [text.decode("utf-8") for batch in batches for text in batch]


def next_tokens(rows: list, start_id: int, padding_id: int) -> tuple:
    """Returns what a decoder reads and what it should say for rows that end in their end id.

    Returns:
        inputs: int32 array (N, T), rows that begin with the start id.
        expected: int32 array (N, T), the rows.
        weights: float32 array (N, T), 0 where a row has ended.
    """
    inputs = padded([[start_id, *row[:-1]] for row in rows], padding_id)
    expected = padded(rows, padding_id)
    lengths = np.array([len(row) for row in rows])[:, None]
    return inputs, expected, (np.arange(expected.shape[1]) < lengths).astype(np.float32)
