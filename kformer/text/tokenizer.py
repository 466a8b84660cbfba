"""Text to ids and back: a SentencePiece model, run in graph by tensorflow-text.

The model file defines everything: normalisation, white space, pieces, byte fallback. The ids equal
the ids that the SentencePiece library gives for the same file. Only where two splits of a text have
the same score, which takes a text that repeats itself, may the choice differ.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_text
from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer

from kformer.arguments import as_texts, check_target_language, replace_lone_surrogates, single_text
from kformer.text import vocabulary

_MODEL_ATTRIBUTES = (
    "model",
    "_library",
    "in_graph",
    "vocab_size",
    "padding_id",
    "unknown_id",
    "start_id",
    "end_id",
)


@keras.saving.register_keras_serializable(package="kformer")
class Tokenizer(keras.layers.Layer):
    """Splits text into pieces of a SentencePiece model, and joins them again.

    A Keras layer, so that a `.keras` file holds its model as an asset. Use `Tokenizer.train` or
    `Tokenizer.load` rather than the constructor. A call is `encode`, also of a
    `keras.Input(shape=(), dtype="string")`; `len` is `vocab_size`.

    Args:
        model: The bytes of a SentencePiece model file that has ids for padding, unknown, start
            and end.
        prefix: A piece that is put before every text that is not blank, such as the language to
            translate into; None for none.
        target_languages: Pieces by the code of a language, such as {"fra": ">>fra<<"}. One of them
            must then be chosen for every text, with `into`; None for no choice.

    Examples:
        >>> import kformer
        >>> from kformer import phrasebook
        >>> files = phrasebook.write("text")
        >>> both = [files["train.de"], files["train.en"]]
        >>> tokenizer = kformer.Tokenizer.train(both, vocab_size=1000)
        >>> ids = tokenizer.encode(["Ein Hund läuft."])
        >>> tokenizer.pieces(ids[0])
        ['▁Ein', '▁Hund', '▁läuft', '.', '</s>']
        >>> tokenizer.decode(ids)
        ['Ein Hund läuft.']
    """

    def __init__(
        self,
        model: bytes | None = None,
        prefix: str | None = None,
        target_languages: dict[str, str] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.model = b""
        self.prefix, self.prefix_id = prefix, None
        self.target_languages = dict(target_languages or {})
        self.language_ids: dict[str, int] = {}
        self.built = True
        if model is not None:
            self._use(model)

    @classmethod
    def train(
        cls,
        files: str | Path | Sequence[str | Path] | None = None,
        vocab_size: int = 8000,
        character_coverage: float = 0.9995,
        pieces: str = "unigram",
        normalization: str = "nmt_nfkc",
        split_digits: bool = False,
        line_breaks: bool = False,
        *,
        texts: Iterable[str] | None = None,
    ) -> "Tokenizer":
        """Learns a model with byte fallback from text files, or from texts in Python.

        Padding is 0, unknown 1, start 2, end 3; 256 ids spell the bytes of text that no piece
        covers.

        Args:
            files: A path or a list of paths of UTF-8 text, one sentence a line; plain or
                compressed.
            vocab_size: Number of ids.
            character_coverage: Share of the text's characters that get pieces of their own; the
                rarest are spelled in bytes.
            pieces: Kind of pieces: "unigram", frequent parts of words
                ([Kudo, 2018](https://arxiv.org/abs/1804.10959)); "char", single characters, which
                suit numbers, dates and spelling; or "word", frequent words.
            normalization: Rule for characters: "nmt_nfkc" applies Unicode's NFKC, makes a
                space of all white space, and deletes control characters and invisible ones, such
                as the soft hyphen; but keeps ZWNJ and ZWJ in the scripts and emoji that need them.
                "nfkc" keeps white space and control characters. "identity" keeps everything. The
                module `kformer.text.normalization` has the details.
            split_digits: Whether each digit is a piece of its own, which suits numbers.
            line_breaks: Whether the model keeps line breaks, tabs and all spaces, so that a
                language model can learn text of several lines: plays, code, chats. A line break is
                then a piece of its own. With "nmt_nfkc", "\\r\\n" and "\\r" become "\\n".
            texts: Instead of `files`: list of strings, or another iterable of them.

        Raises:
            FileNotFoundError: A file is missing.
            TypeError: An argument has the wrong type, or neither or both of `files` and `texts` are
                given.
            ValueError: The text does not support `vocab_size` ids (the message has the number that
                it supports); a file is not UTF-8 (the message has the line); or the files hold no
                text.
        """
        if (files is None) == (texts is None):
            rule = "`files` must be paths of text, or `texts` a list of strings, one of both."
            raise TypeError(f"{rule} Received: files={files!r:.99}, texts={texts!r:.99}.")
        settings: dict[str, Any] = {"pieces": pieces, "normalization": normalization}
        settings |= {"split_digits": split_digits, "line_breaks": line_breaks}
        if files is None:
            with tempfile.TemporaryDirectory(prefix="kformer-") as folder:
                file = Path(folder) / "texts"
                lines = map(replace_lone_surrogates, as_texts(texts, "texts"))
                file.write_bytes("".join(f"{line}\n" for line in lines).encode())
                return cls(vocabulary.learn(file, vocab_size, character_coverage, **settings))
        try:
            return cls(vocabulary.learn(files, vocab_size, character_coverage, **settings))
        except FileNotFoundError as error:
            rule = "There is no such file; sentences themselves are given as `texts`."
            raise FileNotFoundError(f"{rule} {str(error).partition('. ')[2]}") from error

    @classmethod
    def load(cls, path: str | Path):
        """Reads a SentencePiece model file."""
        try:
            return cls(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{error} Received: path={str(path)!r}.") from error

    def save(self, path: str | Path):
        """Writes the SentencePiece model file."""
        Path(path).write_bytes(self.model)

    def _use(self, model):
        library = vocabulary.read(model)
        self.model = model
        self.vocab_size = library.GetPieceSize()
        self.padding_id, self.unknown_id = library.pad_id(), library.unk_id()
        self.start_id, self.end_id = library.bos_id(), library.eos_id()
        self._library = library
        if self.prefix is not None:
            self.prefix_id = self._id_of("prefix", self.prefix)
        self.language_ids = {
            code: self._id_of("target_languages", piece)
            for code, piece in self.target_languages.items()
        }
        self.in_graph = _in_graph(model)

    def _id_of(self, name, piece):
        i = self._library.PieceToId(piece)
        if self._library.IdToPiece(i) != piece:
            raise ValueError(f"`{name}` must be a piece of the model. Received: {name}={piece!r}.")
        return i

    def into(self, target_language: str | None) -> "Tokenizer":
        """Returns a tokenizer that puts the piece of one language before every text.

        Args:
            target_language: One of `target_languages`; None if there are none, for this tokenizer.

        Raises:
            ValueError: It is another language; the message names the model's languages.
        """
        check_target_language(target_language, self.target_languages)
        if target_language is None:
            return self
        tokenizer = self._with_prefix(self.target_languages[target_language])
        tokenizer.prefix_id = self.language_ids[target_language]
        return tokenizer

    def without_prefix(self) -> "Tokenizer":
        """Returns a tokenizer of the same model without a prefix and a choice of languages."""
        return self._with_prefix(None)

    def _with_prefix(self, prefix):
        tokenizer = Tokenizer(prefix=prefix)
        for name in _MODEL_ATTRIBUTES:
            setattr(tokenizer, name, getattr(self, name))
        return tokenizer

    def tokenize(self, texts: Any, prefix_ids: Any = None):
        """Returns the ids of `texts`, in graph, with the prefix, without start and end.

        Args:
            texts: string tensor (B,), list of strings, or one string, also as a scalar tensor.
            prefix_ids: int32 tensor (B,), an id to put before each text that is not blank; by
                default the id of the tokenizer's prefix, if it has one.

        Returns:
            int32 `tf.RaggedTensor` (B, None); int32 tensor (None,) for one string.

        Raises:
            ValueError: The tokenizer has a choice of languages, and none was chosen by `into`.
        """
        if prefix_ids is None and self.target_languages:
            raise ValueError(
                "One of several target languages must be chosen, by `into(target_language)`: "
                f"{', '.join(self.target_languages)}. Received: none."
            )
        texts, is_one = _as_vector(texts)
        ids = self._with_prefixes(self.in_graph.tokenize(texts), prefix_ids)
        return ids[0] if is_one else ids

    def _with_prefixes(self, ids, prefix_ids):
        if prefix_ids is None:
            if self.prefix_id is None:
                return ids
            prefix_ids = tf.fill([ids.nrows()], self.prefix_id)
        is_text = ids.row_lengths() > 0
        prefixes = tf.RaggedTensor.from_row_lengths(
            tf.boolean_mask(prefix_ids, is_text), tf.cast(is_text, tf.int64)
        )
        return tf.concat([prefixes, ids], axis=1)

    def detokenize(self, ids: Any):
        """Returns the text of `ids`, in graph, without start, end and padding.

        Args:
            ids: int32 tensor (B, T), or `tf.RaggedTensor` (B, None).

        Returns:
            string tensor (B,), valid UTF-8.
        """
        return self.in_graph.detokenize(ids)

    def encode(self, texts: Any):
        """Returns the ids that an encoder reads: the pieces of each text and the end id, padded.

        Args:
            texts: string tensor (B,), list of strings, or one string, also as a scalar tensor.

        Returns:
            int32 tensor (B, S); (S,) for one string.
        """
        texts, is_one = _as_vector(texts)
        ids = self.with_end(self.tokenize(texts)).to_tensor(self.padding_id)
        return ids[0] if is_one else ids

    def __call__(self, texts: Any, **context: Any):  # Such as `training`, from other layers.
        """Returns `encode(texts)`; for a string `keras.Input` (B,) the symbolic ids (B, S)."""
        return (super().__call__ if isinstance(texts, keras.KerasTensor) else self.call)(texts)

    def call(self, texts: Any):
        return self.encode(texts)

    def compute_output_spec(self, texts: keras.KerasTensor) -> keras.KerasTensor:
        if texts.dtype != "string" or len(texts.shape) != 1:
            raise ValueError(
                'A tokenizer reads a vector of texts: keras.Input(shape=(), dtype="string"). '
                f"Received: shape={texts.shape}, dtype={texts.dtype!r}."
            )
        return keras.KerasTensor((*texts.shape, None), "int32")

    def __len__(self):
        return self.vocab_size

    def __bool__(self):
        return True  # Also before a file has given it a model.

    def decode(self, ids: Any) -> str | list[str]:
        """Returns the texts of rows of ids, the inverse of `encode`; eager.

        The ids of padding, start and end are dropped, and a prefix at the beginning. Normalization
        is not undone: `decode(encode(["Ｈund"]))` is `["Hund"]`.

        Args:
            ids: integers (B, S), as a tensor, an array, a `tf.RaggedTensor` or a list of rows of
                any lengths; or one row (S,).

        Returns:
            A list of B strings; one string for one row.

        Raises:
            TypeError: The ids are not integers in rows.
            ValueError: An id is not in the vocabulary.
        """
        if isinstance(ids, tf.RaggedTensor):
            ids = ids.to_list()
        elif tf.is_tensor(ids):
            ids = ids.numpy()
        is_row = len(ids) > 0 and np.ndim(ids[0]) == 0
        rows = [self._text_ids(row) for row in ([ids] if is_row else ids)]
        flat = tf.constant([i for row in rows for i in row], tf.int32)
        lengths = tf.constant([len(row) for row in rows], tf.int64)
        texts = self.detokenize(tf.RaggedTensor.from_row_lengths(flat, lengths)).numpy()
        texts = [text.decode("utf-8") for text in texts]
        return texts[0] if is_row else texts

    def _text_ids(self, row):
        """Returns the ids of a row that stand for text."""
        row = np.asarray(row)
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            raise TypeError(
                "`ids` must be rows of integers, or one row. Received: a row of shape "
                f"{row.shape} and dtype {row.dtype}."
            )
        wrong = row[(row < 0) | (row >= self.vocab_size)]
        if wrong.size:
            rule = f"Ids must be from 0 to {self.vocab_size - 1}, as the vocabulary has"
            raise ValueError(f"{rule} {self.vocab_size} of them. Received: {int(wrong[0])}.")
        special = (self.padding_id, self.start_id, self.end_id)
        kept = [int(i) for i in row if i not in special]
        return kept[self.prefix_length(kept) :]

    def with_start(self, ids: Any):
        """Puts the start id before each row of a `tf.RaggedTensor` (B, None)."""
        return tf.concat([self._column(ids, self.start_id), ids], axis=1)

    def with_end(self, ids: Any):
        """Puts the end id behind each row of a `tf.RaggedTensor` (B, None)."""
        return tf.concat([ids, self._column(ids, self.end_id)], axis=1)

    def _column(self, ids, value):
        return tf.fill(tf.stack([ids.nrows(out_type=tf.int32), 1]), value)

    def prefix_length(self, ids: Sequence[int]) -> int:
        """Returns how many of `ids`, a row of `tokenize`, are the prefix: 0 or 1."""
        return int(len(ids) > 0 and ids[0] in (self.prefix_id, *self.language_ids.values()))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Returns the piece of each of `ids`, a sequence of integers, as in the vocabulary."""
        return [self._library.IdToPiece(int(i)) for i in ids]

    @property
    def symbol_ids(self) -> set[int]:
        """The ids of control symbols, such as those of languages, which stand for no text."""
        return {i for i in range(self.vocab_size) if self._library.IsControl(i)}

    @property
    def spelled(self) -> list[bytes]:
        """The text of each of the V ids, in UTF-8; b"" for ids without text."""
        library, texts = self._library, []
        for i in range(self.vocab_size):
            piece = library.IdToPiece(i)
            if library.IsByte(i):
                texts.append(bytes([int(piece[1:-1], 16)]))  # <0x2E>
            elif library.IsControl(i) or i == self.padding_id:
                texts.append(b"")
            else:
                texts.append(piece.replace("\u2581", " ").encode("utf-8"))
        return texts

    def get_config(self):
        own = {"prefix": self.prefix, "target_languages": self.target_languages}
        return {**super().get_config(), **own}

    def save_assets(self, folder: str | Path):
        (Path(folder) / vocabulary.ASSET).write_bytes(self.model)

    def load_assets(self, folder: str | Path):
        self._use((Path(folder) / vocabulary.ASSET).read_bytes())


def _as_vector(texts):
    """Returns texts as a string tensor (B,), and whether they were a single one."""
    if not (tf.is_tensor(texts) and texts.dtype == tf.string):
        text = single_text("texts", texts)
        vector = as_texts(texts, "texts") if text is None else [text]
        return tf.constant(vector, tf.string), text is not None
    is_one = texts.shape.rank == 0
    return (tf.reshape(texts, [1]) if is_one else texts), is_one


def _in_graph(model):
    """Returns a tokenizer of tensorflow-text that outlives `keras.utils.set_random_seed`.

    A kernel holds its model, and that function clears TensorFlow's cache of kernels
    ([issue 570](https://github.com/tensorflow/text/issues/570)). With a shared name, the model
    stays. An exported tokenizer has no shared name, but a name scope: without that, Python would
    load two tokenizers of one SavedModel as the first one twice.
    """
    name = f"kformer_{hashlib.sha256(model).hexdigest()}"
    tokenizer = tensorflow_text.SentencepieceTokenizer(model, out_type=tf.int32, name=name)
    tokenizer._model_resource._resource_handle = gen_sentencepiece_tokenizer.sentencepiece_op(
        model=model, shared_name=name
    )
    return tokenizer
