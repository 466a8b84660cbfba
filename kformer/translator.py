"""The translator: text in, text out, in one `.keras` file.

Axes: B batch, S source length, N sequences a row, T target length.
"""

import json
import warnings
import zipfile
from pathlib import Path
from typing import NamedTuple

import keras
import tensorflow as tf
from keras import ops

from kformer.files import replacing
from kformer.runtime import GRAPH
from kformer.search import Beam, Greedy
from kformer.tokenizer import Tokenizer
from kformer.transformer import Attention, Transformer

FORMAT = 1  # Of the `.keras` file; readers refuse what is newer than they are.
EXTRA_LENGTH = 50  # A translation may have this many more ids than its source.


class Looked(NamedTuple):
    """Where a translation looked; see `Translator.attend`."""

    source: list  # S pieces
    target: list  # T pieces that the decoder read, the start first
    attention: Attention  # of one sentence: B is 1


def search_ids(transformer, source, search, runtime=GRAPH, max_length=None):
    """Translates ids: what Python, the SavedModel and the TFLite file all run.

    A row may get 50 ids more than its source has, as in section 6.1 of
    [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762). A row that holds nothing but its
    end id, a blank line, gets none.

    Args:
        transformer: a `Transformer`.
        source: int32 tensor (B, S), each row its pieces, the end id, padding.
        search: `Greedy` or `Beam`.
        runtime: What it runs on; see `kformer.runtime`.
        max_length: T, where shapes must be static: at least S + 50.

    Returns:
        `kformer.search.Found`.
    """
    real = ops.cast(ops.not_equal(source, transformer.padding_id), "int32")
    lengths = ops.sum(real, axis=1)  # (B,)
    limits = ops.where(lengths > 1, lengths + EXTRA_LENGTH, 0)
    if max_length is None:
        max_length = ops.maximum(ops.max(limits), 1)  # An empty batch has a largest limit, too.

    step, cache = transformer.start(source, max_length, search.beam_size, runtime)
    return search(step, cache, limits, max_length)


def make_search(tokenizer, beam_size=1, length_penalty=0.6, n_best=1):
    """Returns `Greedy` for one beam and `Beam` for more, with the ids of the target tokenizer."""
    special = {
        "start_id": tokenizer.start_id,
        "end_id": tokenizer.end_id,
        "padding_id": tokenizer.padding_id,
    }
    if beam_size == 1 and n_best == 1:
        return Greedy(**special)
    return Beam(beam_size, length_penalty, n_best, **special)


@keras.saving.register_keras_serializable(package="kformer")
class Translator(keras.Model):
    """A tokenizer, a Transformer and a search.

    Args:
        tokenizer: `Tokenizer` of the source, and of the target if that has no own.
        transformer: `Transformer` with the tokenizer's vocabulary.
        target_tokenizer: `Tokenizer` of the target, if it has a vocabulary of its own.
        max_source_length: Most ids of a source sentence, its end id included; what is longer is
            translated up to there, with a warning.
    """

    def __init__(
        self,
        tokenizer,
        transformer,
        target_tokenizer=None,
        max_source_length: int = 256,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if max_source_length < 2:
            raise ValueError(
                "`max_source_length` must leave room for a piece and the end id. "
                f"Received: max_source_length={max_source_length}."
            )
        self.tokenizer = tokenizer
        self.target_tokenizer = tokenizer if target_tokenizer is None else target_tokenizer
        self.transformer = transformer
        self.max_source_length = max_source_length
        self.built = True
        self._compiled_searches = {}
        if tokenizer.model is not None:  # Else `load_assets` follows.
            self._check_vocabularies()

    def _check_vocabularies(self):
        have = (
            self.transformer.source_embedding.vocab_size,
            self.transformer.target_embedding.vocab_size,
        )
        need = (self.tokenizer.vocab_size, self.target_tokenizer.vocab_size)
        if have != need:
            raise ValueError(
                "The transformer must have the vocabularies of the tokenizers. Received: "
                f"vocabulary sizes (source, target) {have} of the transformer, {need} of the "
                "tokenizers."
            )
        paddings = {self.tokenizer.padding_id, self.target_tokenizer.padding_id}
        if paddings != {self.transformer.padding_id}:
            raise ValueError(
                "The transformer must have the padding id of the tokenizers. Received: "
                f"padding_id={self.transformer.padding_id} of the transformer, "
                f"{sorted(paddings)} of the tokenizers."
            )

    def translate(
        self, texts, beam_size=1, length_penalty=0.6, batch_size=32, progress=None
    ) -> list[str]:
        """Translates any number of sentences; sorts them by length, keeps their order.

        Args:
            texts: list of strings. A blank one translates to an empty one.
            beam_size: 1 takes the best id at every step; more searches wider, for longer.
            length_penalty: See `kformer.Beam`; for more than one beam.
            batch_size: Sentences translated at once. It changes speed, not answers.
            progress: Called with the number of sentences done, after each batch.

        Returns:
            list of as many strings.

        Warns:
            UserWarning: Sentences were longer than `max_source_length` ids.
        """
        if isinstance(texts, str):
            raise TypeError(f"`texts` must be a list of strings. Received: texts={texts!r}.")
        texts = list(texts)
        search = self._compiled_search(beam_size, length_penalty)
        rows = self.source_rows(texts)
        translations = [""] * len(texts)
        for batch in batches_by_length([len(row) for row in rows], batch_size):
            source = tf.ragged.constant([rows[i] for i in batch], tf.int32, ragged_rank=1)
            ids = search(source.to_tensor(self.tokenizer.padding_id))
            for i, text in zip(batch, self.target_tokenizer.detokenize(ids).numpy(), strict=True):
                translations[i] = text.decode("utf-8")
            if progress:
                progress(len(batch))
        return translations

    def source_rows(self, texts):
        """Returns the ids of each text, pieces and end; warns of what it had to cut."""
        if not len(texts):
            return []
        rows = self.tokenizer.with_end(self.tokenizer.tokenize(texts)).to_list()
        return cut_rows(rows, self.max_source_length, self.tokenizer.end_id)

    def attend(self, text, target=None) -> Looked:
        """Returns the attention of every layer for one sentence.

        Args:
            text: The source sentence.
            target: Its translation; by default what `translate` gives.
        """
        target = self.translate([text])[0] if target is None else target
        source = self.source_rows([text])
        read = self.target_tokenizer.with_start(self.target_tokenizer.tokenize([target]))
        attention = self.transformer.attend((tf.constant(source), read.to_tensor()))
        return Looked(
            self.tokenizer.pieces(source[0]),
            self.target_tokenizer.pieces(read[0].numpy()),
            attention,
        )

    def _compiled_search(self, beam_size, length_penalty):
        """One traced function for each way to search; any batch and length runs in it."""
        key = (beam_size, length_penalty)
        if key not in self._compiled_searches:
            search = make_search(self.target_tokenizer, beam_size, length_penalty)

            def best_ids(source):
                return search_ids(self.transformer, source, search).ids[:, 0]

            if keras.backend.backend() == "tensorflow":
                best_ids = tf.function(
                    best_ids, input_signature=[tf.TensorSpec([None, None], tf.int32)]
                )
            self._compiled_searches[key] = best_ids
        return self._compiled_searches[key]

    def save(self, path):
        """Writes one `.keras` file that holds all that `kformer.load` needs; no optimizer."""
        if Path(path).suffix != ".keras":
            raise ValueError(f"The file's name must end in .keras. Received: path={str(path)!r}.")
        translator = self
        if getattr(self.transformer, "optimizer", None) is not None:
            translator = Translator(
                self.tokenizer,
                self.transformer.copy(),
                None if self.target_tokenizer is self.tokenizer else self.target_tokenizer,
                self.max_source_length,
            )
        with replacing(path) as temporary:
            keras.saving.save_model(translator, temporary)

    def get_config(self):
        return {
            "format": FORMAT,
            "transformer": self.transformer.get_config(),
            "own_target_tokenizer": self.target_tokenizer is not self.tokenizer,
            "max_source_length": self.max_source_length,
        }

    @classmethod
    def from_config(cls, config):
        _check_format(config["format"])
        return cls(
            Tokenizer(),
            Transformer.from_config(config["transformer"]),
            Tokenizer() if config["own_target_tokenizer"] else None,
            config["max_source_length"],
        )


def load(path) -> Translator:
    """Reads the `.keras` file of a `Translator`; runs no code from it (Keras's safe mode).

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file holds no translator, or a damaged one, or one of a newer format.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no such file. Received: path={str(path)!r}.")
    received = _format_of(path)
    if received is None:
        raise ValueError(
            "A translator is a .keras file, as `Translator.save` writes it. "
            f"Received: path={str(path)!r}, which holds none."
        )
    _check_format(received)
    try:
        translator = keras.saving.load_model(path, compile=False, safe_mode=True)
        translator._check_vocabularies()
    except Exception as error:  # Keras, h5py and zipfile each have their own.
        raise ValueError(
            "The file must hold a whole translator, as `Translator.save` writes it. Received: "
            f"path={str(path)!r} ({type(error).__name__}: {str(error).split(chr(10))[0]})."
        ) from error
    return translator


def _format_of(path):
    """Returns the format of the translator in a `.keras` file; None, if there is none in it."""
    if path.suffix != ".keras" or not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            held = json.loads(archive.read("config.json"))
        return held["config"]["format"] if held["registered_name"] == "kformer>Translator" else None
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError):
        return None


def _check_format(received):
    if received > FORMAT:
        raise ValueError(
            f"This kformer reads translators up to format {FORMAT}; update it. "
            f"Received: format={received}."
        )


def batches_by_length(lengths, batch_size):
    """Yields lists of indices, the longest first, of rows of about one length."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def cut_rows(rows, max_length, end_id):
    """Cuts rows of ids to `max_length`, their end id kept, and warns of each."""
    for i, row in enumerate(rows):
        if len(row) > max_length:
            warnings.warn(
                f"Sentence {i + 1} has {len(row)} ids, over the limit of {max_length}: "
                f"only its first {max_length - 1} were translated.",
                stacklevel=4,  # The line that called `translate`.
            )
            rows[i] = [*row[: max_length - 1], end_id]
    return rows
