"""`TextModel`, the base of all tasks: a tokenizer and a network in one file, and vectors of texts.

Vectors are the encoder's, one for each id or one for each row of ids.

Axes: B batch, N texts, S length in ids, D d_model.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import keras
import numpy as np
from keras import ops

from kformer.archives import Archive
from kformer.arguments import as_texts, check_integer, check_text, one_or_many, text_or_texts
from kformer.backend import check_backend
from kformer.files import replacing
from kformer.inference.facts import ModelFacts
from kformer.kinds import known_kind
from kformer.model.network import KeepsOptimizer, ShowsLossOfTokens, weights_copy
from kformer.model.sequence_classifier import pool
from kformer.model.transformer import Attention
from kformer.tasks.attention_maps import AttentionMaps
from kformer.tasks.keras_file import RULE, check_kind, check_sizes, check_weights, encoder_config
from kformer.tasks.keras_methods import KerasMethods
from kformer.tasks.network_file import load_model
from kformer.tasks.run_file import model_file
from kformer.tasks.text_batches import InBatches
from kformer.text.text_rows import read_texts
from kformer.text.tokenizer import Tokenizer


def token_vectors(network: keras.Model, source: Any) -> Any:
    """Returns the encoder's vector of each id, float32 (B, S, D).

    Args:
        source: int32 tensor (B, S), padded.
    """
    return ops.cast(network.encode(source), "float32")


def sentence_vectors(network: keras.Model, source: Any) -> Any:
    """Returns a vector for each row, float32 (B, D): the mean of the vectors of its ids.

    Args:
        source: int32 tensor (B, S), padded; each row has at least its end id.
    """
    return pool(network.encode(source), source, network.padding_id)


class TextModel(KerasMethods, KeepsOptimizer, ShowsLossOfTokens, keras.Model):
    """A tokenizer and a network; base class of `Translator` and of the other tasks.

    A subclass creates its network, and defines `_with`, which makes a model with another network;
    `call`, which runs the network on ids; and `_examples`, if it learns from texts.

    Args:
        tokenizer: `Tokenizer` of the text that the network reads.
        max_source_length: Maximum number of ids of a text, its end id included; a longer one is
            cut, with a warning.
    """

    def __init__(self, tokenizer: Tokenizer, max_source_length: int = 256, **kwargs: Any):
        check_backend()
        super().__init__(**kwargs)
        self.autocast = False  # As in the network.
        check_integer("max_source_length", max_source_length, least=2)  # A piece and the end id.
        check_kinds(tokenizer=(tokenizer, Tokenizer))
        self.tokenizer = tokenizer
        self.max_source_length = max_source_length
        self.built = True
        self._batches = None

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model, as every saved form has them."""
        return ModelFacts()

    @property
    def network(self):
        """The network, a Keras model of ids, which is trained, copied and exported."""
        raise NotImplementedError

    def _check_vocabularies(self):
        """Raises a ValueError unless the network has the ids of the tokenizer."""
        have, need = self.network.vocab_size, self.tokenizer.vocab_size
        if have != need:
            raise ValueError(
                "The encoder must have the vocabulary of the tokenizer. Received: vocabulary size "
                f"{have} of the encoder, {need} of the tokenizer."
            )
        if self.network.padding_id != self.tokenizer.padding_id:
            raise ValueError(
                "The encoder must have the padding id of the tokenizer. Received: padding_id="
                f"{self.network.padding_id} of the encoder, {self.tokenizer.padding_id} of the "
                "tokenizer."
            )
        if self.tokenizer.target_languages:
            raise ValueError(
                "The tokenizer must have one target language, see `Tokenizer.into`, or none. "
                f"Received: {', '.join(self.tokenizer.target_languages)}."
            )

    @one_or_many
    def encode(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> np.ndarray:
        """Returns a vector for each text, for comparing texts: the mean of `token_vectors`.

        Args:
            texts: list of N strings, or another iterable of them, as a NumPy array, a pandas Series
                or a string tensor (N,); or one string. A blank one gets the vector of its end id.
            batch_size: Texts encoded at once. It changes speed, not results.
            progress: Called with the number of texts done, after each batch.

        Returns:
            float32 array (N, D), where D is the width of the network; (D,) for one string.

        Raises:
            TypeError: An argument, or one of the texts, has the wrong type.
            ValueError: `batch_size` is less than 1.

        Warns:
            UserWarning: A text was over `max_source_length` ids; only its beginning was encoded.
        """
        rows = self._rows(texts, "encoded", batch_size)
        vectors = np.empty((len(rows), self.network.d_model), np.float32)
        for batch, outputs in self._in_batches(sentence_vectors, rows, batch_size, progress):
            vectors[batch] = outputs
        return vectors

    @text_or_texts
    def token_vectors(
        self,
        texts: Iterable[str],
        batch_size: int = 32,
        progress: Callable[[int], object] | None = None,
    ) -> list[np.ndarray]:
        """Returns the encoder's vector of each id of each text, of its pieces and the end id.

        Args:
            texts, batch_size, progress: As for `encode`.

        Returns:
            list of N float32 arrays (S, D), where S is the number of ids of the text; or one array.

        Raises:
            TypeError, ValueError: As `encode`.

        Warns:
            UserWarning: As `encode`.
        """
        rows = self._rows(texts, "encoded", batch_size)
        vectors = [np.empty(0)] * len(rows)
        for batch, outputs in self._in_batches(token_vectors, rows, batch_size, progress):
            for i, vector in zip(batch, outputs, strict=True):
                vectors[i] = vector[: len(rows[i])].copy()  # The batch is not kept.
        return vectors

    def attend(self, text: str) -> AttentionMaps:
        """Returns the attention of every layer and head to the pieces of one text.

        Args:
            text: A string; only the beginning of one that is too long is read, with a warning.

        Returns:
            `AttentionMaps`, of self-attention alone.
        """
        [row] = self._rows([check_text("text", text)], "read", 1)
        _, weights = self.network.attend(np.array([row], np.int32))
        pieces = self.tokenizer.pieces(row)
        if hasattr(self.network, "start_id"):
            written = [*pieces[1:], *self.tokenizer.pieces([self.tokenizer.end_id])]
            return AttentionMaps([], pieces, written, Attention((), weights, ()))
        return AttentionMaps(pieces, [], [], Attention(weights, (), ()))

    @text_or_texts
    def source_rows(self, texts: Iterable[str]):
        """Returns the ids of each text, pieces and end; warns of texts that are cut."""
        return self._read(as_texts(texts, "texts"), "Sentence", "translated").ids

    def _rows(self, texts, did, batch_size):
        check_integer("batch_size", batch_size, least=1)
        return self._read(as_texts(texts, "texts"), "Sentence", did).ids

    def _read(self, texts, name, did):
        most = self.max_source_length
        return read_texts(self.tokenizer, texts, most, name, did)

    def _in_batches(self, function, rows, batch_size, progress):
        """Yields the indices of each batch and its outputs, by `InBatches`."""
        if self._batches is None:
            self._batches = InBatches(self.network)
        return self._batches(function, rows, batch_size, progress)

    def save(
        self, path: str | Path, include_optimizer: bool = True, *, overwrite: bool = True
    ) -> None:
        """Writes one `.keras` file that holds all that `load` needs.

        Args:
            path: Its name ends in .keras.
            include_optimizer: Whether a model, or a network, that is compiled is saved with its
                optimizer, which makes the file up to three times as large, so that `fit` continues
                after `load`. Without it, a network with a "mixed" dtype policy becomes a float32
                network. A model that is not compiled has no optimizer, and one with LoRA, which is
                merged, is saved without it.
            overwrite: Whether a file at `path` is replaced.

        Raises:
            FileExistsError: There is such a file, and `overwrite` is False.
            ValueError: The name has another ending.
        """
        if not overwrite and Path(path).exists():
            raise FileExistsError(f"There is such a file already. Received: path={str(path)!r}.")
        if Path(path).suffix != ".keras":
            raise ValueError(f"The file's name must end in .keras. Received: path={str(path)!r}.")
        compiled = any(getattr(model, "optimizer", None) for model in (self, self.network))
        kept = include_optimizer or not compiled
        model = self if kept else self._with(weights_copy(self.network))
        with replacing(path) as temporary:
            keras.saving.save_model(model, temporary)

    def get_compile_config(self):
        network_config = self.network.get_compile_config()
        return {
            **super().get_compile_config(),
            **({"network": network_config} if network_config else {}),
        }

    def compile_from_config(self, config: dict[str, Any]):
        config = dict(config)
        network_config = config.pop("network", None)
        if config:
            super().compile_from_config(config)
        if network_config:
            self.network.compile_from_config(network_config)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Reads a `.keras` file, and runs no code from it (Keras's safe mode).

        In the folder of a training run, this is the file of the best model. `kformer.load` reads
        the other saved forms, too.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file holds something else, is damaged, or has a newer format.

        Warns:
            UserWarning: The model was saved compiled with a loss, a metric or an optimizer that is
                not known here, so it is loaded without them.
        """
        check_backend()
        path = model_file(path)
        if not path.exists():
            raise FileNotFoundError(f"There is no such file. Received: path={str(path)!r}.")
        kind = known_kind(cls)
        check_kind(path, kind)
        try:
            with Archive(path, RULE) as archive:
                check_sizes(archive, encoder_config(path))
                model = load_model(path)
                model._check_vocabularies()
                check_weights(archive, model)
        except Exception as error:  # Keras, h5py and zipfile each have their own.
            raise ValueError(
                f"The file must hold a whole {kind.words}, as `{kind.class_name}.save` writes it. "
                f"Received: path={str(path)!r} "
                f"({type(error).__name__}: {str(error).split(chr(10))[0]})."
            ) from error
        return model

    def copy(self) -> Self:
        """Returns a model with a float32 copy of the network, for exports."""
        return self._with(self.network.copy())

    def _with(self, network) -> Self:
        raise NotImplementedError


def check_kinds(**arguments: tuple[Any, type]):
    """Raises a TypeError unless each argument, a pair (value, class), is of its class."""
    for name, (value, kind) in arguments.items():
        if not isinstance(value, kind):
            raise TypeError(f"`{name}` must be a {kind.__name__}. Received: {name}={value!r:.99}.")
