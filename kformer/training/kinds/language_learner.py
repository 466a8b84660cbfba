"""The language model that a run trains: with random weights, or with another model's.

It streams the documents of plain text as batches for `model.fit`: read in windows, tokenized in
graph, and packed into full rows. Bits per byte of the validation text compare models of different
vocabularies.

Axes: B batch, T row length.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kformer.arguments import check_choice
from kformer.model.transformer_decoder import TransformerDecoder
from kformer.tasks.language_model import LanguageModel
from kformer.text import vocabulary
from kformer.text.documents import DOCUMENTS, END, FILE, LINE, document_files, read_documents
from kformer.text.text_files import as_list
from kformer.text.tokenizer import Tokenizer
from kformer.text.vocabulary import check_keeps_lines
from kformer.training.callbacks.translation_scores import ValidationCallback
from kformer.training.data.batching import Batching, BatchOptions, FixedShapes, are_fixed
from kformer.training.data.mixture import WINDOW, Mixture
from kformer.training.data.pairs import count_long_lines
from kformer.training.data.windows import Windows
from kformer.training.kinds.language_report import text_report
from kformer.training.kinds.language_task import LanguageTask
from kformer.training.objective.metrics import MaskedAccuracy, Perplexity, Tokens
from kformer.training.recipes.cost import training_cost
from kformer.training.recipes.pace import pace_of
from kformer.training.recipes.recipe import NO_CONSISTENCY, Recipe
from kformer.training.run.fine_tuning import settings_to_start_from, warm_start_stack
from kformer.training.run.replicas import compile_network, one_stack
from kformer.training.run.run_preparation import Prepared
from kformer.training.run.training_task import TextOfRun

_WINDOW_BYTES = 2**25  # Of a window of long documents, at most, or one document.


def document_mixture(files: list[str], documents: str = LINE) -> Mixture:
    """Returns a `Mixture` with the documents of `files` on both sides."""
    if documents == LINE and not any(map(count_long_lines, files)):
        return Mixture(files, files)
    return _OfDocuments(files, documents)


class _OfDocuments(Mixture):
    """Documents of several lines, or long ones; `names` are the files that they are from."""

    def __init__(self, files: Any, documents: Any):
        files_of_documents = document_files(files, documents)
        written = [file for file in files_of_documents if file.total]
        if not written:
            raise ValueError(f"Some text must be left to use. Received: {files}, all blank.")
        self._counts = {file.path: file.total for file in written}
        size = sum(Path(path).stat().st_size for path in self._counts) / sum(self._counts.values())
        window = max(1, min(WINDOW, int(_WINDOW_BYTES / size)))
        super().__init__([*self._counts], [*self._counts], window=window)
        if documents != FILE:
            pairs = zip(files, files_of_documents, strict=True)
            self.names = [file for file, documents_of_file in pairs if documents_of_file.total]

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
    consistency: str = NO_CONSISTENCY,
    cutoff: float = 0.05,
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
        piece_splitting, byte_spelling, consistency, cutoff, fixed_shapes, shuffle, seed, epoch: As
            for `translation_dataset`. Ids that respelling adds to a window are cut off at its end.

    Returns:
        `tf.data.Dataset` of (ids_in (B, T), ids_out (B, T)), int32: start + pieces of each
        document, and its pieces + end.

    Raises:
        FileNotFoundError, ValueError: A file is missing, empty or not UTF-8; all lines are blank;
            or the vocabulary does not keep line breaks, and should.

    Examples:
        >>> import kformer
        >>> from kformer.training import language_dataset
        >>> tokenizer = kformer.load("runs/de-en/translator.keras").tokenizer
        >>> ids, next_ids = next(iter(language_dataset("test.en", tokenizer, max_length=64)))
        >>> ids.shape == next_ids.shape, int(ids[0, 0]) == tokenizer.start_id
        (True, True)
    """
    files = as_list(files)
    check_choice("documents", documents, DOCUMENTS)
    if documents != LINE:
        check_keeps_lines(tokenizer.model, documents=documents)
    options = BatchOptions(
        tokens_per_batch,
        max_length,
        piece_splitting,
        byte_spelling,
        fixed_shapes,
        shuffle,
        seed,
        consistency=consistency,
        cutoff=cutoff,
    )
    return PackedWindows(tokenizer, files, documents, options).dataset(epoch)


class PackedWindows(Windows):
    """Windows whose rows are packed, of plain text; both sides are the same text.

    Args:
        tokenizer: `Tokenizer` of the text.
        files: Paths.
        documents: One of `kformer.text.documents.DOCUMENTS`.
        options: The other arguments of `language_dataset`.
    """

    def __init__(
        self, tokenizer: Tokenizer, files: list[str], documents: str, options: BatchOptions
    ):
        if are_fixed(options.fixed_shapes):
            form = FixedShapes(options.tokens_per_batch, [options.max_length])
        else:
            form = Batching(options.tokens_per_batch, options.max_length)

        def batch(ids_in, ids_out, shape):
            return tuple(form.pad([ids_in, ids_out], [tokenizer.padding_id] * 2, shape))

        mixture, respellings = document_mixture(files, documents), options.respellings(tokenizer)
        sides = tokenizer, tokenizer
        views = options.views(tokenizer)
        super().__init__(sides, mixture, options, form, batch, (respellings, ()), views)
        self._rows_per_batch = options.tokens_per_batch // options.max_length
        self._are_long = documents != LINE

    def _tokenized(self, source, target, rounds):
        return [self._sides[0].tokenize(source)] * 2

    def _counts_of(self, rows, source, target, rounds, seed):
        buckets = self._packed(rows[0], seed)[-1]
        tokens = np.full(2, int(_number_of_ids(rows[0])))
        return tokens, np.bincount(buckets, minlength=len(self.batching.sizes))

    def _window(self, text, _same, _rounds, seed):
        return *self._packed(self._sides[0].tokenize(text), seed), seed

    def _packed(self, documents, seed):
        """Returns the input of `_batches` but the seed, from the ids of documents."""
        [tokenizer, _], length = self._sides, self._filter.max_length
        seeds = iter(tf.unstack(tf.random.split(seed, 4)))
        documents = tf.ragged.boolean_mask(documents, documents.row_lengths() > 0)
        number = documents.nrows()
        # Before the respelling, so that every pass has the same number of batches.
        ids = _number_of_ids(documents)
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
        buckets = tf.fill([tf.size(limits) - 1], len(self.batching.sizes) - 1)
        return *rows, order, limits, buckets


def _number_of_ids(documents):
    """Returns the number of ids of documents, with the end id of each that is not blank, int64."""
    number = tf.math.count_nonzero(documents.row_lengths())
    return tf.size(documents.flat_values, tf.int64) + number


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

    def on_validation(self, epoch: float, logs: dict):
        """Adds the bits to the logs."""
        bits = math.log2(logs["val_perplexity"]) * self.tokens
        logs["val_bits_per_byte"] = bits / self.bytes


def text_of(prepared: Prepared[LanguageTask]) -> TextOfRun:
    """Returns the text of a run."""
    task, options = prepared.task, BatchOptions.for_training(prepared.recipe)
    tokenizer, documents, plain = (
        prepared.tokenizers[0],
        task.options.documents,
        options.for_validation(),
    )
    return TextOfRun(
        PackedWindows(tokenizer, task.files["text"], documents, options),
        [PackedWindows(tokenizer, [file], documents, plain) for file in task.validation_files],
    )


def report(prepared: Prepared[LanguageTask]) -> str:
    """Describes the text of a run and its cost, and warns of problems."""
    tokenizer, documents = prepared.tokenizers[0], prepared.task.options.documents
    recipe = dataclasses.replace(prepared.recipe, vocab_size=tokenizer.vocab_size)
    text = text_report(*prepared.text, tokenizer, prepared.origin, documents)
    cost = training_cost(recipe, text.tokens, text.tokens, one_stack=True)
    pace = pace_of(recipe, text.batches, prepared.is_trained)
    return "\n".join([str(text), *cost.lines(), *pace.lines()])


def scores(prepared: Prepared[LanguageTask], _: LanguageModel) -> list:
    """Returns the callbacks that add the bits per byte of each validation text."""
    documents, model = prepared.task.options.documents, prepared.tokenizers[0].model
    return [
        [BitsPerByte(read_documents(file, documents, parts=True), model)]
        for file in prepared.task.validation_files
    ]


def new_model(prepared: Prepared[LanguageTask], rising_steps: int) -> LanguageModel:
    """Returns the model of a run, ready for `fit`; `rising_steps` is of `WarmupSchedule`."""
    start = prepared.task.options.warm_start
    return new_language_model(prepared.recipe, prepared.tokenizers[0], start, rising_steps)


def new_language_model(
    recipe: Recipe, tokenizer: Tokenizer, start: Any = None, rising_steps: int | None = None
) -> LanguageModel:
    """Returns a language model ready for `fit`.

    Args:
        start: Path of a language model to start from; or None.
    """
    start_model = None if start is None else LanguageModel.load(start)
    keras.utils.set_random_seed(recipe.seed)
    settings = {"start_id": tokenizer.start_id, **settings_to_start_from(start_model, tokenizer)}
    decoder = one_stack(TransformerDecoder, recipe, tokenizer, **settings)
    model = LanguageModel(tokenizer, decoder, recipe.max_length)
    if start_model is not None:
        positions = max(recipe.max_length, start_model.max_length)
        model = LanguageModel(tokenizer, decoder, positions, start_model.search_defaults)
        warm_start_stack(model, start_model)
    metrics = [kind(tokenizer.padding_id) for kind in (MaskedAccuracy, Perplexity, Tokens)]
    compile_network(decoder, recipe, tokenizer.padding_id, metrics, rising_steps)
    return model
