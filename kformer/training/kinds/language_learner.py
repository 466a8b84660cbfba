"""The language model that a run trains: with random weights, or with another model's.

It streams the documents of plain text as batches for `model.fit`: read in windows, tokenized in
graph, and packed into full rows. Bits per byte of the validation text compare models of different
vocabularies.

Axes: B batch, T row length.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kformer.arguments import check_choice
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.tasks.language_model import LanguageModel
from kformer.text import vocabulary
from kformer.text.documents import DOCUMENTS, END, LINE, document_files, read_documents
from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.text.vocabulary import check_keeps_lines
from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.data.batching import Batching, FixedShapes, are_fixed
from kformer.training.data.dropped_pairs import PairFilter
from kformer.training.data.mixture import WINDOW, Mixture
from kformer.training.data.pairs import count_long_lines
from kformer.training.data.translation_dataset import respellings
from kformer.training.data.windows import Windows
from kformer.training.objective.loss import MaskedCrossEntropy
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipes.recipe import Recipe
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.replicas import compile_network, one_stack, rising_steps
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.run_vocabularies import tokenizers_of
from kformer.training.run.training_task import Learner

_WINDOW_BYTES = 2**25  # Of a window of long documents, at most, or one document.


def document_mixture(files: list[str], documents: str = LINE) -> Mixture:
    """Returns a `Mixture` with the documents of `files` on both sides.

    Args:
        files: Paths.
        documents: One of `kformer.text.documents.DOCUMENTS`.

    Raises:
        FileNotFoundError, ValueError: A file is missing, empty or not UTF-8.
    """
    if documents == LINE and not any(map(count_long_lines, files)):
        return Mixture(files, files)
    return _OfDocuments(files, documents)


class _OfDocuments(Mixture):
    """Documents of several lines, or long ones."""

    def __init__(self, files: Any, documents: Any):
        written = [file for file in document_files(files, documents) if file.count]
        if not written:
            raise ValueError(f"Some text must be left to use. Received: {files}, all blank.")
        self._counts = {file.path: file.count for file in written}
        size = sum(Path(path).stat().st_size for path in self._counts) / sum(self._counts.values())
        window = max(1, min(WINDOW, int(_WINDOW_BYTES / size)))
        super().__init__([*self._counts], [*self._counts], window=window)

    def count(self, files: Any, _: Any):
        return [self._counts[file] for file in files]

    def _file(self, file):
        return file, END

    def _texts(self, lines):
        return lines


def language_dataset(
    files: str | Path | Sequence[str | Path],
    tokenizer: Tokenizer,
    *,
    tokens_per_batch: int = 4096,
    max_length: int = 128,
    documents: str = LINE,
    piece_splitting: float = 0.0,
    byte_spelling: float = 0.0,
    fixed_shapes: bool | None = None,
    shuffle: bool = True,
    seed: int = 0,
    epoch: tf.Variable | None = None,
) -> tf.data.Dataset:
    """Reads plain text as batches of packed rows, without padding but in the last one of a window.

    Documents follow each other in rows of `max_length` ids; a document that does not fit continues
    in the next row. Each document begins with the start id, by which `kformer.TransformerDecoder`
    keeps the documents of a row apart. Order and resumption are as in `translation_dataset`. If
    documents have several lines, most of them go on in another row; so the rows are shuffled, too,
    and begin at other places in each pass.

    Args:
        files: A path or a list of paths, UTF-8, plain or compressed.
        tokenizer: `kformer.Tokenizer`.
        tokens_per_batch: Maximum ids of a batch.
        max_length: Length T of a row.
        documents: Definition of a document: "line", each line that is not blank; "blank-line", the
            lines between blank ones; "file", a whole file. With the latter two the model learns
            line breaks, which the vocabulary must keep (`kformer.Tokenizer.train`).
        piece_splitting, byte_spelling, fixed_shapes, shuffle, seed, epoch: As for
            `translation_dataset`. Ids that respelling adds to a window are cut off at its end.

    Returns:
        `tf.data.Dataset` of (ids_in (B, T), ids_out (B, T)), int32: start + pieces of each
        document, and its pieces + end.

    Raises:
        FileNotFoundError, ValueError: A file is missing, empty or not UTF-8; all lines are blank;
            or the vocabulary does not keep line breaks, and should.
    """
    files = as_list(files)
    check_choice("documents", documents, DOCUMENTS)
    if documents != LINE:
        check_keeps_lines(tokenizer.model, documents=documents)
    if are_fixed(fixed_shapes):
        form = FixedShapes(tokens_per_batch, [max_length])
    else:
        form = Batching(tokens_per_batch, max_length)

    def batch(ids_in, ids_out, shape):
        return tuple(form.pad([ids_in, ids_out], [tokenizer.padding_id] * 2, shape))

    return _PackedWindows(
        tokenizer,
        document_mixture(files, documents),
        PairFilter(max_length),
        form,
        batch,
        respellings(tokenizer, piece_splitting, byte_spelling),
        shuffle,
        seed,
        tokens_per_batch // max_length,
        documents != LINE,
    ).dataset(epoch)


class _PackedWindows(Windows):
    """Windows whose rows are packed; both sides of `mixture` are the same text.

    Args:
        tokenizer: `Tokenizer` of the text.
        mixture, filter_pairs, batching, batch, shuffle, seed: As for `Windows`.
        respellings: The functions (rows, seed) -> rows that spell text in other ids.
        rows_per_batch: Number of rows of a batch.
        are_long: Whether documents may have many rows; then the rows are shuffled, too.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        mixture: Mixture,
        filter_pairs: PairFilter,
        batching: Batching,
        batch: Callable,
        respellings: Sequence[Callable],
        shuffle: bool,
        seed: int,
        rows_per_batch: int,
        are_long: bool,
    ):
        sides, respellings = (tokenizer, tokenizer), (respellings, ())
        super().__init__(sides, mixture, filter_pairs, batching, batch, respellings, shuffle, seed)
        self._rows_per_batch, self._are_long = rows_per_batch, are_long

    def _counts(self, *text_and_seed):
        buckets = self._window(*text_and_seed)[-1]
        return np.bincount(buckets, minlength=len(self._batching.sizes))

    def _window(self, text, _same, _rounds, seed):
        [tokenizer, _], length = self._sides, self._filter.max_length
        seeds = iter(tf.unstack(tf.random.split(seed, 4)))
        documents = tokenizer.tokenize(text)
        documents = tf.ragged.boolean_mask(documents, documents.row_lengths() > 0)
        number = documents.nrows()
        # Before the respelling, so that every pass has the same number of batches.
        ids = tf.cast(tf.size(documents.flat_values), tf.int64) + number
        for respell in self._respellings[0]:
            documents = respell(documents, next(seeds))
        if self._shuffle:
            chance = tf.random.stateless_uniform([number], next(seeds), 0, 2**32, tf.int64)
            documents = tf.gather(documents, tf.argsort(chance, stable=True))
        splits = tf.concat([tf.range(0, ids, length, tf.int64), [ids]], axis=0)
        rows = [
            side.flat_values[:ids]
            for side in (tokenizer.with_start(documents), tokenizer.with_end(documents))
        ]
        order = tf.range(tf.size(splits) - 1)
        if self._shuffle and self._are_long:
            phase_and_order = next(seeds)
            rows, order = _moved(rows, phase_and_order, length), _shuffled(order, phase_and_order)
        rows = [tf.RaggedTensor.from_row_splits(side, splits, validate=False) for side in rows]
        number = tf.size(order)
        limits = tf.concat([tf.range(0, number, self._rows_per_batch), [number]], axis=0)
        buckets = tf.fill([tf.size(limits) - 1], len(self._batching.sizes) - 1)
        return *rows, order, limits, buckets


def _moved(sides, seed, length):
    """Moves ids by less than a row, so that rows begin at other places; the last become first."""
    by = tf.random.stateless_uniform([], seed, 0, length, tf.int32)
    return [tf.roll(side, by, axis=0) for side in sides]


def _shuffled(order, seed):
    """Shuffles all rows but the last, which may be short."""
    number = tf.maximum(tf.size(order) - 1, 0)
    chance = tf.random.stateless_uniform([number], tf.random.fold_in(seed, 1))
    return tf.concat([tf.argsort(chance), order[-1:]], axis=0)


class BitsPerByte(ValidationCallback):
    """Adds `val_bits_per_byte` to the logs, which must have `val_perplexity`.

    The end of a document counts as a token, and as a byte.

    Args:
        documents: The documents of the validation text; blank ones do not count.
        model: The SentencePiece model.
    """

    def __init__(self, documents: Iterable[str], model: bytes):
        super().__init__()
        library, self.tokens, self.bytes = vocabulary.read(model), 0, 0
        for document in documents:
            if ids := library.encode(document):
                self.tokens += len(ids) + 1
                self.bytes += len(document.encode()) + 1

    def on_validation(self, epoch: float, logs: dict | None = None):
        """Adds the bits to the logs."""
        bits = math.log2(logs["val_perplexity"]) * self.tokens
        logs["val_bits_per_byte"] = bits / self.bytes


def learner(prepared: Prepared, epoch: tf.Variable) -> Learner:
    """Returns the model and data of a run; `epoch` is an argument of `language_dataset`."""
    recipe, task = prepared.recipe, prepared.task
    tokenizer, _ = tokenizers_of(prepared)
    documents = task.options.documents
    common = {
        "tokens_per_batch": recipe.tokens_per_batch,
        "max_length": recipe.max_length,
        "documents": documents,
    }
    batches = language_dataset(
        *(task.files["text"], tokenizer),
        piece_splitting=recipe.piece_splitting,
        byte_spelling=recipe.byte_spelling,
        seed=recipe.seed,
        epoch=epoch,
        **common,
    )
    validation = [
        language_dataset(file, tokenizer, shuffle=False, **common) for file in task.validation_files
    ]
    rise = rising_steps(prepared, batches)
    model = new_language_model(recipe, tokenizer, task.options.warm_start, rise)
    files = task.validation_files
    bits = [
        [BitsPerByte(read_documents(file, documents, parts=True), tokenizer.model)]
        for file in files
    ]
    return Learner.on(model, batches, validation, files, scores=bits)


def new_language_model(
    recipe: Recipe, tokenizer: Tokenizer, start: Any = None, rising_steps: int | None = None
) -> LanguageModel:
    """Returns a language model ready for `fit`.

    Args:
        recipe: All numbers, with the sizes of the model to start from.
        tokenizer: `kformer.Tokenizer`.
        start: Path of a language model to start from; or None.
        rising_steps: As for `WarmupSchedule`.
    """
    start_model = None if start is None else LanguageModel.load(start)
    keras.utils.set_random_seed(recipe.seed)
    settings = {"start_id": tokenizer.start_id, **settings_to_start_from(start_model, tokenizer)}
    decoder = one_stack(TransformerDecoder, recipe, tokenizer, **settings)
    model = LanguageModel(tokenizer, decoder, recipe.max_length)
    if start_model is not None:
        warm_start_stack(model, start_model)
    loss = MaskedCrossEntropy(recipe.label_smoothing, tokenizer.padding_id)
    metrics = [kind(tokenizer.padding_id) for kind in (MaskedAccuracy, Perplexity, Tokens)]
    compile_network(decoder, recipe, loss, metrics, rising_steps)
    return model
